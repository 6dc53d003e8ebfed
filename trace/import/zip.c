#include "trace/import/zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/regular_file.h"

enum {
    END_BYTES = 22,                 /* end of the directory, without its comment */
    TAIL_BYTES = END_BYTES + 65535, /* where it must stand */
    LOCATOR_BYTES = 20,             /* of the end in zip64's form */
    END64_BYTES = 56,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    MOST_MEMBERS = 65535,
    MOST_DIRECTORY = 64 << 20,
    MOST_RATIO = 1032, /* that deflate reaches: 258 bytes for 2 bits */
};

struct zip {
    int fd;
    uint64_t bytes; /* of the file */
};

static uint64_t little(const unsigned char *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static int read_at(const struct zip *z, uint64_t at, unsigned char *buf, size_t n, const char *what, struct err *err)
{
    if (at > z->bytes || n > z->bytes - at)
        return err_set(err, "byte %llu: the file ends inside %s", (unsigned long long)z->bytes, what);
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(z->fd, buf + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return err_set(err, "byte %llu: cannot read %s", (unsigned long long)(at + done), what);
        done += (size_t)got;
    }
    return 0;
}

struct directory {
    uint64_t at, bytes, members;
};

static int find_directory(const struct zip *z, struct directory *d, struct err *err)
{
    size_t n = z->bytes < TAIL_BYTES ? (size_t)z->bytes : TAIL_BYTES, i;
    unsigned char *tail = mem_zalloc(n + 1, 1, err), far[END64_BYTES];
    if (!tail || read_at(z, z->bytes - n, tail, n, "the archive", err)) {
        free(tail);
        return -1;
    }
    for (i = n >= END_BYTES ? n - END_BYTES + 1 : 0; i > 0; i--)
        if (memcmp(tail + i - 1, "PK\5\6", 4) == 0)
            break;
    if (i) {
        *d = (struct directory){little(tail + i + 15, 4), little(tail + i + 11, 4), little(tail + i + 9, 2)};
        bool wide = d->at == UINT32_MAX || d->bytes == UINT32_MAX || d->members == UINT16_MAX;
        if (wide && i > LOCATOR_BYTES && memcmp(tail + i - 1 - LOCATOR_BYTES, "PK\6\7", 4) == 0) {
            if (read_at(z, little(tail + i - 1 - LOCATOR_BYTES + 8, 8), far, sizeof far, "zip64's end", err)) {
                free(tail);
                return -1;
            }
            *d = (struct directory){little(far + 48, 8), little(far + 40, 8), little(far + 32, 8)};
        }
    }
    free(tail);
    if (!i)
        return err_set(err, "byte %llu: the file ends without a directory of the archive",
                       (unsigned long long)z->bytes);
    if (d->members > MOST_MEMBERS || d->bytes > MOST_DIRECTORY || d->at > z->bytes || d->bytes > z->bytes - d->at)
        return err_set(err, "the archive's directory is said to have %llu bytes from byte %llu, of %llu",
                       (unsigned long long)d->bytes, (unsigned long long)d->at, (unsigned long long)z->bytes);
    return 0;
}

/* Sizes and offset of 4 bytes that say "see zip64" are replaced from the extra field, in this order. */
static void widen(const unsigned char *extra, size_t n, struct source_part *part, uint64_t *local)
{
    uint64_t *wide[] = {&part->bytes, &part->packed_bytes, local};
    for (size_t at = 0; at + 4 <= n;) {
        size_t length = little(extra + at + 2, 2), used = 0;
        if (length > n - at - 4)
            return;
        for (int i = 0; little(extra + at, 2) == 1 && i < 3; i++)
            if (*wide[i] == UINT32_MAX && used + 8 <= length) {
                *wide[i] = little(extra + at + 4 + used, 8);
                used += 8;
            }
        at += 4 + length;
    }
}

/* Where the member's bytes are, and whether they can be. */
static int place(const struct zip *z, uint64_t local, unsigned method, unsigned flags, struct zip_member *m,
                 struct err *err)
{
    unsigned char head[LOCAL_BYTES];
    if (method != 0 && method != 8)
        return err_set(err, "member '%s' is packed by method %u; expected stored or deflated", m->name, method);
    if (flags & 1)
        return err_set(err, "member '%s' is encrypted", m->name);
    if (read_at(z, local, head, sizeof head, "a member", err))
        return -1;
    if (memcmp(head, "PK\3\4", 4) != 0)
        return err_set(err, "byte %llu: no member begins here; the directory says '%s' does", (unsigned long long)local,
                       m->name);
    m->part.at = local + LOCAL_BYTES + little(head + 26, 2) + little(head + 28, 2);
    m->part.deflated = method == 8;
    uint64_t packed = m->part.packed_bytes, bytes = m->part.bytes;
    if (m->part.at > z->bytes || packed > z->bytes - m->part.at)
        return err_set(err, "member '%s' is said to have %llu bytes from byte %llu, of %llu", m->name,
                       (unsigned long long)packed, (unsigned long long)m->part.at, (unsigned long long)z->bytes);
    if (method ? bytes / MOST_RATIO > packed : bytes != packed)
        return err_set(err, "member '%s' is said to unpack %llu bytes to %llu", m->name, (unsigned long long)packed,
                       (unsigned long long)bytes);
    return 0;
}

/* The entry at *at of the directory, which moves behind it. */
static int take_entry(const struct zip *z, const unsigned char *dir, uint64_t n, uint64_t *at, struct zip_member *m,
                      struct err *err)
{
    const unsigned char *p = dir + *at;
    uint64_t left = n - *at;
    if (left < ENTRY_BYTES || memcmp(p, "PK\1\2", 4) != 0)
        return err_set(err, "byte %llu of the archive's directory: no entry begins here", (unsigned long long)*at);
    size_t name = little(p + 28, 2), extra = little(p + 30, 2), comment = little(p + 32, 2);
    if (left - ENTRY_BYTES < name + extra + comment)
        return err_set(err, "byte %llu of the archive's directory: it ends inside an entry", (unsigned long long)*at);
    size_t kept = name < sizeof m->name ? name : sizeof m->name - 1;
    memcpy(m->name, p + ENTRY_BYTES, kept);
    m->name[kept] = 0;
    for (size_t i = 0; i < kept; i++)
        if ((unsigned char)m->name[i] < ' ')
            m->name[i] = '?';
    uint64_t local = little(p + 42, 4);
    m->part = (struct source_part){
        .crc = (uint32_t)little(p + 16, 4), .packed_bytes = little(p + 20, 4), .bytes = little(p + 24, 4)};
    widen(p + ENTRY_BYTES + name, extra, &m->part, &local);
    *at += ENTRY_BYTES + name + extra + comment;
    return place(z, local, (unsigned)little(p + 10, 2), (unsigned)little(p + 8, 2), m, err);
}

static int list(const struct zip *z, struct zip_member **members, size_t *n, struct err *err)
{
    struct directory d = {0};
    if (find_directory(z, &d, err))
        return -1;
    unsigned char *dir = mem_zalloc((size_t)d.bytes, 1, err);
    *members = mem_zalloc((size_t)d.members, sizeof **members, err);
    int rc = dir && *members ? read_at(z, d.at, dir, (size_t)d.bytes, "the archive's directory", err) : -1;
    uint64_t at = 0;
    for (*n = 0; !rc && *n < d.members; (*n)++)
        rc = take_entry(z, dir, d.bytes, &at, &(*members)[*n], err);
    free(dir);
    return rc;
}

int zip_members(const char *path, struct zip_member **members, size_t *n, struct err *err)
{
    struct zip z = {.fd = regular_file_open(path, err)};
    struct stat st;
    *members = NULL;
    *n = 0;
    if (z.fd < 0)
        return -1;
    int rc = fstat(z.fd, &st) ? err_set(err, "%s", strerror(errno)) : 0;
    z.bytes = rc ? 0 : (uint64_t)st.st_size;
    if (!rc)
        rc = list(&z, members, n, err);
    (void)close(z.fd);
    if (rc) {
        free(*members);
        *members = NULL;
        *n = 0;
    }
    return rc;
}
