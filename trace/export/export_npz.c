#include "trace/export/export_npz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/export/zip_write.h"

enum { LONGEST_TEXT = 8192 }; /* longer names of kernels are cut: every item is as wide as the widest */

enum column { KIND, TIME, DURATION, ADDR, BYTES, FLAGS, ID, GROUP, EXTRA }; /* EXTRA + i */

/* Begin an array of one axis. dtype: "<u8". */
static int begin(struct zip_write *zip, const char *name, const char *dtype, uint64_t count, size_t item,
                 struct err *err)
{
    char head[256] = "\x93NUMPY\x01", file[64];
    int n = snprintf(head + 10, sizeof head - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",), }",
                     dtype, count);
    while ((n + 11) % 64)
        head[10 + n++] = ' ';
    head[10 + n++] = '\n';
    head[7] = 0;
    head[8] = (char)(n & 0xff);
    head[9] = (char)(n >> 8);
    (void)snprintf(file, sizeof file, "%s.npy", name);
    if (zip_write_member(zip, file, (uint64_t)n + 10 + count * item, err))
        return -1;
    zip_write_data(zip, head, (size_t)n + 10);
    return 0;
}

/* --- texts --- */

struct texts {
    struct zip_write *zip;
    size_t column, width; /* width 0: find it */
    uint64_t count;
    char *item;
};

static void put_text(struct texts *t, const char *text)
{
    const size_t n = strlen(text);
    memset(t->item, 0, t->width);
    memcpy(t->item, text, n < t->width ? n : t->width);
    zip_write_data(t->zip, t->item, t->width);
}

static int on_text(void *ctx, const struct store_value *v, size_t n)
{
    struct texts *t = ctx;
    const char *text = n > t->column && v[t->column].s ? v[t->column].s : "";
    if (t->item)
        put_text(t, text);
    else
        t->width = strlen(text) > t->width ? strnlen(text, LONGEST_TEXT) : t->width;
    t->count += !t->item;
    return 0;
}

static int begin_texts(struct texts *t, const char *name, struct err *err)
{
    char dtype[32];
    t->width = t->width ? t->width : 1;
    t->item = mem_zalloc(t->width, 1, err);
    (void)snprintf(dtype, sizeof dtype, "|S%zu", t->width);
    return t->item ? begin(t->zip, name, dtype, t->count, t->width, err) : -1;
}

static int write_kernel_names(struct exporter_context *c, struct zip_write *zip, struct err *err)
{
    struct texts t = {.zip = zip, .column = 1};
    int rc = store_rows(c->store, "kernels", on_text, &t, err);
    if (!rc && t.count)
        rc = begin_texts(&t, "kernel_name", err) || store_rows(c->store, "kernels", on_text, &t, err) ? -1 : 0;
    if (!rc && t.count)
        zip_write_end(zip);
    free(t.item);
    return rc;
}

static int on_id(void *ctx, const struct store_value *v, size_t n)
{
    struct texts *t = ctx;
    (void)n;
    t->count++;
    if (t->width)
        zip_write_data(t->zip, &v[0].i, sizeof v[0].i);
    return 0;
}

static int write_kernel_ids(struct exporter_context *c, struct zip_write *zip, struct err *err)
{
    struct texts t = {.zip = zip};
    int rc = store_rows(c->store, "kernels", on_id, &t, err);
    t.width = sizeof(int64_t);
    if (rc || !t.count)
        return rc;
    rc = begin(zip, "kernel_id", "<i8", t.count, t.width, err) || store_rows(c->store, "kernels", on_id, &t, err) ? -1
                                                                                                                  : 0;
    if (!rc)
        zip_write_end(zip);
    return rc;
}

/* Names of kinds, by number; the sentence of a sample. */
static int write_words(struct zip_write *zip, const char *name, const char *const *words, size_t n, struct err *err)
{
    struct texts t = {.zip = zip, .count = n};
    for (size_t i = 0; i < n; i++)
        t.width = strlen(words[i]) > t.width ? strlen(words[i]) : t.width;
    int rc = begin_texts(&t, name, err);
    for (size_t i = 0; i < n && !rc; i++)
        put_text(&t, words[i]);
    if (!rc)
        zip_write_end(zip);
    free(t.item);
    return rc;
}

static int write_kinds(struct zip_write *zip, struct err *err)
{
    const char *names[RECORD_KINDS];
    for (size_t i = 0; i < RECORD_KINDS; i++)
        names[i] = record_kinds[i].name;
    return write_words(zip, "kinds", names, RECORD_KINDS, err);
}

/* --- columns --- */

static size_t item_bytes(int column)
{
    return column == KIND ? 1 : column == FLAGS || column == GROUP ? 4 : 8;
}

static uint64_t value(const struct record *r, int column)
{
    switch (column) {
    case KIND:
        return r->kind;
    case TIME:
        return (uint64_t)r->time;
    case DURATION:
        return (uint64_t)r->duration;
    case ADDR:
        return r->addr;
    case BYTES:
        return r->bytes;
    case FLAGS:
        return r->flags;
    case ID:
        return r->id;
    default:
        return r->group;
    }
}

/* What stands in files' names on every system; each different. */
static void extra_name(const struct stream *stream, int at, char *name, size_t size)
{
    (void)snprintf(name, size, "extra_%.31s", stream->extra[at]);
    for (char *p = name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *p))
            *p = '_';
    for (int i = 0; i < at; i++) {
        char other[48];
        extra_name(stream, i, other, sizeof other);
        if (strcmp(other, name) == 0)
            (void)snprintf(name + strlen(name), size - strlen(name), "_%d", at + 1);
    }
}

static void put_batch(struct zip_write *zip, int column, const struct record *r, const int64_t *extra, size_t n)
{
    unsigned char bytes[STORE_BATCH * 8];
    const size_t size = item_bytes(column);
    for (size_t i = 0; i < n; i++) {
        const uint64_t v = column < EXTRA ? value(&r[i], column) : (uint64_t)extra[(size_t)(column - EXTRA) * n + i];
        for (size_t b = 0; b < size; b++)
            bytes[i * size + b] = (unsigned char)(v >> 8 * b);
    }
    zip_write_data(zip, bytes, n * size);
}

static int write_column(struct exporter_context *c, struct zip_write *zip, int column, const char *name,
                        struct err *err)
{
    static const char *const dtypes[] = {"|u1", "<i8", "<i8", "<u8", "<u8", "<u4", "<u8", "<u4", "<i8"};
    const struct stream *stream = store_stream(c->store, c->stream);
    const struct record *r;
    const int64_t *extra;
    size_t n;
    int more = -1;
    uint64_t written = 0;
    if (begin(zip, name, dtypes[column < EXTRA ? column : EXTRA], stream->records, item_bytes(column), err))
        return -1;
    struct store_cursor *cursor = store_cursor_open(c->store, c->stream, err);
    while (cursor && !ferror(c->to) && (more = store_cursor_next(cursor, &r, &extra, &n, err)) > 0) {
        put_batch(zip, column, r, extra, n);
        written += n;
    }
    store_cursor_close(cursor);
    zip_write_end(zip);
    c->written = written;
    if (more == 0 && written != stream->records)
        return err_set(err, "stream %s has %" PRIu64 " records, not %" PRIu64, stream->name, written, stream->records);
    return ferror(c->to) ? 0 : more;
}

static int write_columns(struct exporter_context *c, struct zip_write *zip, struct err *err)
{
    static const char *const names[] = {"kind", "time", "dur", "addr", "bytes", "flags", "id", "group"};
    const struct stream *stream = store_stream(c->store, c->stream);
    for (int column = 0; column < EXTRA; column++) {
        char name[48];
        const bool time = column == TIME || column == DURATION;
        if (time && stream->unit == TIME_NONE)
            continue;
        (void)snprintf(name, sizeof name, "%s%s%s", names[column], time ? "_" : "",
                       time ? time_unit_name(stream->unit) : "");
        if (write_column(c, zip, column, name, err))
            return -1;
    }
    for (int e = 0; e < STORE_EXTRAS && stream->extra[e][0]; e++) {
        char name[48];
        extra_name(stream, e, name, sizeof name);
        if (write_column(c, zip, EXTRA + e, name, err))
            return -1;
    }
    return 0;
}

static int write_npz(struct exporter_context *c, struct err *err)
{
    struct zip_write zip;
    const char *sample = store_sample(c->store);
    if (zip_write_init(&zip, c->to, err))
        return -1;
    int rc = write_columns(c, &zip, err) || write_kinds(&zip, err) || write_kernel_ids(c, &zip, err) ||
                     write_kernel_names(c, &zip, err) || (sample && write_words(&zip, "sample", &sample, 1, err))
                 ? -1
                 : 0;
    if (!rc)
        zip_write_finish(&zip);
    zip_write_release(&zip);
    return rc;
}

const struct exporter export_npz = {
    .name = "npz",
    .summary = "NumPy's archive: an array for each column",
    .write = write_npz,
};
