#include "trace/graph/npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/graph/graph_build.h"

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
static void widen(const unsigned char *extra, size_t n, struct input_stream_part *part, uint64_t *local)
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
    m->part = (struct input_stream_part){
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

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { HEADER_MOST = 65536 };

/* The value of a key in the header's dictionary; NULL if it is not there. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    while (*at == ' ')
        at++;
    if (*at++ != ':')
        return NULL;
    while (*at == ' ')
        at++;
    return at;
}

/* "'<i8'" */
static int parse_descr(const char *at, struct npy_shape *s, struct err *err)
{
    char quote = at ? *at : 0;
    const char *p = at ? at + 1 : "";
    unsigned width = 0;
    if ((quote == '\'' || quote == '"') && *p && strchr("<>|=", *p) && p[1]) {
        char kind = p[1];
        s->big = *p == '>';
        for (p += 2; isdigit((unsigned char)*p) && width < 65536; p++)
            width = 10 * width + (unsigned)(*p - '0');
        s->kind = kind == 'U' ? 'S' : kind;
        s->width = kind == 'U' ? 4 * width : width;
        bool text = (kind == 'S' || kind == 'U') && width, real = kind == 'f' && (width == 4 || width == 8);
        bool whole = (kind == 'i' || kind == 'u') && (width == 1 || width == 2 || width == 4 || width == 8);
        if (*p == quote && (text || real || whole || (kind == 'b' && width == 1)))
            return 0;
    }
    return err_set(err, "its items are %.*s; expected whole or floating-point numbers of 1 to 8 bytes",
                   at ? (int)strcspn(at, ",}\n") : 7, at ? at : "nothing");
}

/* "(2, 10)", "(5,)", "()" */
static int parse_shape(const char *at, struct npy_shape *s, struct err *err)
{
    s->items = 1;
    if (!at || *at++ != '(')
        return err_set(err, "its header has no shape");
    for (;;) {
        while (*at == ' ' || *at == ',')
            at++;
        if (*at == ')')
            return 0;
        uint64_t size = 0;
        if (!isdigit((unsigned char)*at))
            return err_set(err, "its header's shape is not one of whole numbers");
        for (; isdigit((unsigned char)*at); at++) {
            if (size > (UINT64_MAX >> 8) / 10)
                return err_set(err, "its header's shape is too large");
            size = size * 10 + (uint64_t)(*at - '0');
        }
        if (*at == 'L')
            at++;
        if (s->dimensions < 2)
            s->size[s->dimensions] = size;
        s->dimensions++;
        if (s->dimensions > 32 || (size && s->items > (UINT64_MAX >> 8) / size))
            return err_set(err, "its header's shape is too large");
        s->items *= size;
    }
}

static int parse_header(char *header, struct npy_shape *s, struct err *err)
{
    const char *order = value_of(header, "'fortran_order'");
    if (*header != '{' || !order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
        return err_set(err, "its header is no dictionary with descr, fortran_order and shape");
    s->fortran = *order == 'T';
    return parse_descr(value_of(header, "'descr'"), s, err) || parse_shape(value_of(header, "'shape'"), s, err) ? -1
                                                                                                                : 0;
}

static int read_header(struct input_stream *source, struct npy_shape *s, struct err *err)
{
    unsigned char head[12];
    size_t length;
    if (graph_read_bytes(source, head, 10, "NumPy's header", err))
        return -1;
    if (memcmp(head, magic, sizeof magic) != 0)
        return err_set(err, "byte 0: no array of NumPy begins here");
    if (head[6] < 1 || head[6] > 3)
        return err_set(err, "byte 6: version %u.%u of NumPy's form; expected 1.0 to 3.0", head[6], head[7]);
    length = head[8] | (size_t)head[9] << 8;
    if (head[6] > 1) {
        if (graph_read_bytes(source, head + 10, 2, "NumPy's header", err))
            return -1;
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (length > HEADER_MOST)
        return err_set(err, "byte 8: a header of %zu bytes; expected at most %d", length, HEADER_MOST);
    char *header = calloc(length + 1, 1);
    if (!header)
        return err_set(err, "out of memory");
    int rc = graph_read_bytes(source, header, length, "NumPy's header", err);
    if (!rc)
        rc = parse_header(header, s, err);
    free(header);
    return rc;
}

/* Whether the bytes behind the header are those of the items; false where it cannot be known before they are read. */
static int check_size(const struct npy_place *place, uint64_t header, struct npy_shape *s, struct err *err)
{
    struct stat st;
    unsigned char first[6];
    uint64_t bytes = place->part ? place->part->bytes : 0, items = s->items * s->width;
    if (!place->part) {
        FILE *file = fopen(place->path, "rb");
        bool plain = file && fread(first, 1, sizeof first, file) == sizeof first && memcmp(first, magic, 6) == 0 &&
                     fstat(fileno(file), &st) == 0;
        if (file)
            (void)fclose(file);
        if (!plain)
            return 0;
        bytes = (uint64_t)st.st_size;
    }
    if (bytes < header || bytes - header != items)
        return err_set(err, "byte %llu: %llu bytes of items; its shape needs %llu", (unsigned long long)header,
                       (unsigned long long)(bytes < header ? 0 : bytes - header), (unsigned long long)items);
    s->sure = true;
    return 0;
}

int npy_open(struct npy *a, const struct npy_place *place, uint64_t skip, struct err *err)
{
    *a = (struct npy){.name = place->name, .at = skip};
    a->source =
        place->part ? input_stream_open_part(place->path, place->part, err) : input_stream_open(place->path, err);
    if (!a->source)
        return -1;
    if (read_header(a->source, &a->shape, err) || check_size(place, input_stream_offset(a->source), &a->shape, err) ||
        (skip && input_stream_skip(a->source, skip * a->shape.width, err))) {
        npy_close(a);
        return err_at(err, "%s", place->name);
    }
    return 0;
}

void npy_close(struct npy *a)
{
    input_stream_close(a->source);
    a->source = NULL;
}

static int take(struct npy *a, unsigned char *raw, size_t n, struct err *err)
{
    size_t width = a->shape.width;
    if (graph_read_bytes(a->source, raw, n * width, "the items", err))
        return err_at(err, "%s", a->name);
    if (a->shape.big && width > 1)
        for (unsigned char *p = raw; p < raw + n * width; p += width)
            for (size_t i = 0; i < width / 2; i++) {
                unsigned char byte = p[i];
                p[i] = p[width - 1 - i];
                p[width - 1 - i] = byte;
            }
    return 0;
}

/* Items of one type to ids; the or of all is negative if one is. */
#define WIDEN(type)                                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        type item;                                                                                                     \
        memcpy(&item, raw + i * sizeof item, sizeof item);                                                             \
        ids[i] = (uint64_t)(int64_t)item;                                                                              \
        any |= ids[i];                                                                                                 \
    }

static uint64_t widen_ids(const struct npy_shape *s, const unsigned char *raw, uint64_t *ids, size_t n)
{
    uint64_t any = 0;
    if (s->kind == 'i' && s->width == 8)
        WIDEN(int64_t)
    else if (s->kind == 'i' && s->width == 4)
        WIDEN(int32_t)
    else if (s->kind == 'i' && s->width == 2)
        WIDEN(int16_t)
    else if (s->kind == 'i')
        WIDEN(int8_t)
    else if (s->width == 8)
        WIDEN(uint64_t)
    else if (s->width == 4)
        WIDEN(uint32_t)
    else if (s->width == 2)
        WIDEN(uint16_t)
    else
        WIDEN(uint8_t)
    return any;
}

int npy_ids(struct npy *a, uint64_t *ids, size_t n, struct err *err)
{
    unsigned char raw[NPY_PIECE * 8];
    if (a->shape.kind != 'i' && a->shape.kind != 'u')
        return err_set(err, "%s: its items are of type '%c%u'; ids are whole numbers ('i' or 'u')", a->name,
                       a->shape.kind, a->shape.width);
    if (take(a, raw, n, err))
        return -1;
    if (widen_ids(&a->shape, raw, ids, n) >> 63)
        for (size_t i = 0; i < n; i++)
            if (ids[i] >> 63)
                return err_set(err, "%s: item %llu is %lld; expected an id or offset from 0", a->name,
                               (unsigned long long)(a->at + i), (long long)ids[i]);
    a->at += n;
    return 0;
}

int npy_reals(struct npy *a, double *values, size_t n, struct err *err)
{
    unsigned char raw[NPY_PIECE * 8];
    uint64_t whole[NPY_PIECE];
    float narrow;
    if (a->shape.kind == 'S')
        return err_set(err, "%s: its items are text; expected numbers", a->name);
    if (take(a, raw, n, err))
        return -1;
    a->at += n;
    if (a->shape.kind == 'f' && a->shape.width == 8) {
        memcpy(values, raw, n * sizeof *values);
        return 0;
    }
    if (a->shape.kind != 'f')
        (void)widen_ids(&a->shape, raw, whole, n);
    for (size_t i = 0; i < n; i++) {
        if (a->shape.kind == 'f')
            memcpy(&narrow, raw + i * 4, 4);
        values[i] = a->shape.kind == 'f'   ? (double)narrow
                    : a->shape.kind == 'i' ? (double)(int64_t)whole[i]
                                           : (double)whole[i];
    }
    return 0;
}

bool npy_text(struct npy *a, char *text, size_t size)
{
    unsigned char raw[256];
    size_t n = a->shape.width, used = 0;
    if (a->shape.kind != 'S' || a->shape.items != 1 || n > sizeof raw ||
        graph_read_bytes(a->source, raw, n, "the text", NULL))
        return false;
    for (size_t i = 0; i < n && used < size - 1; i++)
        if (raw[i])
            text[used++] = (char)raw[i];
    text[used] = 0;
    return true;
}

int npy_end(struct npy *a, struct err *err)
{
    return graph_read_end(a->source, err) ? err_at(err, "%s", a->name) : 0;
}
