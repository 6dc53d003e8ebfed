#include "trace/export/zip_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "trace/base/mem.h"

enum {
    VERSION = 20,      /* deflate */
    VERSION_WIDE = 45, /* zip64 */
    FLAG_BEHIND = 8,   /* sizes and sum stand behind the data */
    METHOD_DEFLATE = 8,
    DATE_1980 = 0x21, /* the first day that there is: the same trace gives the same bytes */
    EXTRA_WIDE = 1,
    RAW_WINDOW = -15
};

static void put(struct zip_write *z, const void *data, size_t n)
{
    (void)fwrite(data, 1, n, z->to);
    z->at += n;
}

/* Little-endian, of 2, 4 or 8 bytes. */
static void number(struct zip_write *z, uint64_t value, size_t n)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    put(z, bytes, n);
}

int zip_write_init(struct zip_write *z, FILE *to, struct err *err)
{
    *z = (struct zip_write){.to = to, .small = 0xfffffffe};
    z_stream *s = z->deflate = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return -1;
    if (deflateInit2(s, Z_BEST_SPEED, Z_DEFLATED, RAW_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return 0;
    free(s);
    z->deflate = NULL;
    return err_set(err, "out of memory");
}

void zip_write_release(struct zip_write *z)
{
    if (z->deflate)
        (void)deflateEnd(z->deflate);
    free(z->deflate);
    z->deflate = NULL;
}

/* Version, flags, method, time and date: the same in both headers. */
static void common(struct zip_write *z, const struct zip_write_member *m)
{
    number(z, m->wide ? VERSION_WIDE : VERSION, 2);
    number(z, FLAG_BEHIND, 2);
    number(z, METHOD_DEFLATE, 2);
    number(z, 0, 2);
    number(z, DATE_1980, 2);
}

int zip_write_member(struct zip_write *z, const char *name, uint64_t bytes, struct err *err)
{
    if (z->count == ZIP_MEMBERS || strlen(name) >= sizeof z->members[0].name)
        return err_set(err, "too many arrays for an archive, or too long a name: %.80s", name);
    struct zip_write_member *m = &z->members[z->count++];
    *m = (struct zip_write_member){.at = z->at, .bytes = bytes};
    (void)snprintf(m->name, sizeof m->name, "%s", name);
    /* What cannot be made smaller grows by five bytes in 16 KiB. */
    m->wide = bytes + bytes / 1000 + 100 > z->small;
    number(z, 0x04034b50, 4);
    common(z, m);
    number(z, 0, 4);
    number(z, m->wide ? 0xffffffff : 0, 4);
    number(z, m->wide ? 0xffffffff : 0, 4);
    number(z, strlen(name), 2);
    number(z, m->wide ? 20 : 0, 2);
    put(z, name, strlen(name));
    if (m->wide) {
        number(z, EXTRA_WIDE, 2);
        number(z, 16, 2);
        number(z, 0, 8);
        number(z, 0, 8);
    }
    m->packed_bytes = z->at; /* until the end is known: where the data begins */
    m->bytes = 0;
    m->crc = (uint32_t)crc32_z(0, NULL, 0);
    (void)deflateReset(z->deflate);
    return 0;
}

static void pack(struct zip_write *z, const void *data, size_t n, int flush)
{
    z_stream *s = z->deflate;
    unsigned char out[16384];
    s->next_in = (Bytef *)data;
    s->avail_in = (uInt)n;
    do {
        s->next_out = out;
        s->avail_out = sizeof out;
        (void)deflate(s, flush);
        put(z, out, sizeof out - s->avail_out);
    } while (s->avail_out == 0);
}

void zip_write_data(struct zip_write *z, const void *data, size_t n)
{
    struct zip_write_member *m = &z->members[z->count - 1];
    assert(n <= UINT32_MAX);
    m->crc = (uint32_t)crc32_z(m->crc, data, n);
    m->bytes += n;
    pack(z, data, n, Z_NO_FLUSH);
}

void zip_write_end(struct zip_write *z)
{
    struct zip_write_member *m = &z->members[z->count - 1];
    pack(z, "", 0, Z_FINISH);
    m->packed_bytes = z->at - m->packed_bytes;
    assert(m->wide || (m->bytes <= 0xffffffff && m->packed_bytes <= 0xffffffff));
    number(z, 0x08074b50, 4);
    number(z, m->crc, 4);
    number(z, m->packed_bytes, m->wide ? 8 : 4);
    number(z, m->bytes, m->wide ? 8 : 4);
}

static void directory_row(struct zip_write *z, const struct zip_write_member *m)
{
    const int far = m->at > z->small;
    number(z, 0x02014b50, 4);
    number(z, m->wide || far ? VERSION_WIDE : VERSION, 2);
    common(z, m);
    number(z, m->crc, 4);
    number(z, m->wide ? 0xffffffff : m->packed_bytes, 4);
    number(z, m->wide ? 0xffffffff : m->bytes, 4);
    number(z, strlen(m->name), 2);
    number(z, m->wide || far ? 4u + (m->wide ? 16 : 0) + (far ? 8 : 0) : 0, 2);
    number(z, 0, 2); /* comment */
    number(z, 0, 2); /* disk */
    number(z, 0, 2); /* attributes */
    number(z, 0, 4);
    number(z, far ? 0xffffffff : m->at, 4);
    put(z, m->name, strlen(m->name));
    if (!m->wide && !far)
        return;
    number(z, EXTRA_WIDE, 2);
    number(z, (m->wide ? 16 : 0) + (far ? 8 : 0), 2);
    if (m->wide) {
        number(z, m->bytes, 8);
        number(z, m->packed_bytes, 8);
    }
    if (far)
        number(z, m->at, 8);
}

void zip_write_finish(struct zip_write *z)
{
    const uint64_t start = z->at;
    for (size_t i = 0; i < z->count; i++)
        directory_row(z, &z->members[i]);
    const uint64_t bytes = z->at - start, end = z->at;
    if (end > z->small) {
        number(z, 0x06064b50, 4);
        number(z, 44, 8);
        number(z, VERSION_WIDE, 2);
        number(z, VERSION_WIDE, 2);
        number(z, 0, 8); /* disks */
        number(z, z->count, 8);
        number(z, z->count, 8);
        number(z, bytes, 8);
        number(z, start, 8);
        number(z, 0x07064b50, 4);
        number(z, 0, 4);
        number(z, end, 8);
        number(z, 1, 4);
    }
    number(z, 0x06054b50, 4);
    number(z, 0, 4); /* disks */
    number(z, z->count, 2);
    number(z, z->count, 2);
    number(z, end > z->small ? 0xffffffff : bytes, 4);
    number(z, end > z->small ? 0xffffffff : start, 4);
    number(z, 0, 2);
}
