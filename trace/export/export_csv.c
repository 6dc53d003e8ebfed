/* export_csv: a stream as the plain form that trace/import/csv.c describes; reading it back gives the same records.
 */
#include "trace/export/exporter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/csv_text.h"
#include "trace/base/mem.h"
#include "trace/import/csv.h"

/* Names of kernels by row. */
struct names {
    struct name {
        int64_t id;
        char *name;
    } * items;
    size_t count, cap;
    struct err *err;
};

static int take_name(void *ctx, const struct store_value *v, size_t n)
{
    struct names *names = ctx;
    (void)n;
    if (v[0].type != STORE_INT)
        return 0;
    if (mem_grow((void **)&names->items, &names->cap, names->count + 1, sizeof *names->items, names->err))
        return -1;
    char *copy = mem_strdup(v[1].s, names->err);
    if (!copy)
        return -1;
    names->items[names->count++] = (struct name){v[0].i, copy};
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const int64_t x = ((const struct name *)a)->id, y = ((const struct name *)b)->id;
    return (x > y) - (x < y);
}

/* Rows come in order of id. */
static const char *name_of(const struct names *names, uint64_t id)
{
    const struct name key = {.id = (int64_t)id}, *found = bsearch(&key, names->items, names->count, sizeof key, by_id);
    return found ? found->name : "";
}

static void put_header(FILE *to, const struct stream *stream, bool names)
{
    const char *unit = time_unit_name(stream->unit);
    (void)fputs("kind", to);
    if (stream->unit != TIME_NONE)
        (void)fprintf(to, ",time_%s,dur_%s", unit, unit);
    (void)fputs(",addr,bytes,flags,id,group", to);
    if (names)
        (void)fputs(",name", to);
    for (int e = 0; e < STORE_EXTRAS && stream->extra[e][0]; e++) {
        char cell[64];
        (void)snprintf(cell, sizeof cell, "extra:%s", stream->extra[e]);
        (void)fputc(',', to);
        csv_text_put(to, cell, true);
    }
    (void)fputc('\n', to);
}

static void put_record(FILE *to, const struct stream *stream, const struct record *r, const struct names *names)
{
    (void)fputs(record_kinds[r->kind < RECORD_KINDS ? r->kind : RECORD_NONE].name, to);
    if (stream->unit != TIME_NONE)
        (void)fprintf(to, ",%" PRId64 ",%" PRId64, r->time, r->duration);
    (void)fprintf(to, ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32, r->addr, r->bytes, r->flags, r->id,
                  r->group);
    if (names->count > 0) {
        (void)fputc(',', to);
        if (r->kind == RECORD_KERNEL)
            csv_text_put(to, name_of(names, r->id), true);
    }
}

/* What says that the trace is a sample. */
static int put_sample(void *ctx, const struct store_value *v, size_t n)
{
    (void)n;
    if (strcmp(v[0].s, "sample") == 0 || strncmp(v[0].s, "sample.", 7) == 0)
        (void)fprintf(ctx, "# %s %s\n", v[0].s, v[1].s);
    return 0;
}

static int write_records(struct exporter_context *context, const struct names *names, struct err *err)
{
    const struct stream *stream = store_stream(context->store, context->stream);
    struct store_cursor *cursor = store_cursor_open(context->store, context->stream, err);
    if (!cursor)
        return -1;
    const struct record *records;
    const int64_t *extra;
    size_t n;
    int more;
    (void)fputs(CSV_HEAD "\n", context->to);
    if (store_sample(context->store) && store_rows(context->store, "origin", put_sample, context->to, err)) {
        store_cursor_close(cursor);
        return -1;
    }
    put_header(context->to, stream, names->count > 0);
    while ((more = store_cursor_next(cursor, &records, &extra, &n, err)) > 0 && !ferror(context->to))
        for (size_t i = 0; i < n; i++) {
            put_record(context->to, stream, &records[i], names);
            for (int e = 0; e < STORE_EXTRAS && stream->extra[e][0]; e++)
                (void)fprintf(context->to, ",%" PRId64, extra[(size_t)e * n + i]);
            (void)fputc('\n', context->to);
            context->written++;
        }
    store_cursor_close(cursor);
    (void)fprintf(context->to, CSV_END "%" PRIu64 "\n", context->written);
    return more < 0 ? -1 : 0;
}

static int write_csv(const struct exporter *exporter, struct exporter_context *context, struct err *err)
{
    (void)exporter;
    struct names names = {.err = err};
    int rc = store_rows(context->store, "kernels", take_name, &names, err);
    if (rc == 0)
        rc = write_records(context, &names, err);
    for (size_t i = 0; i < names.count; i++)
        free(names.items[i].name);
    free(names.items);
    return rc;
}

const struct exporter export_csv = {
    .name = "csv",
    .summary = "our plain form, read back by import: kind,time_ns,dur_ns,addr,bytes,flags,id,group,name",
    .write = write_csv,
};
