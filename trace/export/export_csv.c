/* export_csv: a trace as the plain form that trace/import/csv.c describes; reading it back gives the same trace. */
#include "trace/export/exporter.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/csv_text.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/import/csv.h"
#include "trace/store/schema.h"

/* Of a line, whose end import finds within 1 MiB whatever has to be escaped in it. */
enum { TEXT_MOST = 128 << 10 };

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
    if (v[0].type != STORE_INT || strlen(v[1].s) > TEXT_MOST)
        return 0;
    if (mem_grow((void **)&names->items, &names->cap, names->count + 1, sizeof *names->items, names->err))
        return -1;
    char *copy = mem_strdup(v[1].s, names->err);
    if (!copy)
        return -1;
    names->items[names->count++] = (struct name){v[0].i, copy};
    return 0;
}

/* Rows come in order of id. */
static const char *name_of(const struct names *names, uint64_t id)
{
    const struct name *found = sort_find(&id, names->items, names->count, sizeof *found, sorted_by_i64);
    return found ? found->name : "";
}

static void put_header(FILE *to, const struct stream *stream, bool names)
{
    const char *unit = time_unit_name(stream->unit);
    (void)fputs("kind", to);
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

static void put_record(FILE *to, const struct record *r, const struct names *names)
{
    (void)fputs(record_kinds[r->kind < RECORD_KINDS ? r->kind : RECORD_NONE].name, to);
    (void)fprintf(to, ",%" PRId64 ",%" PRId64 ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32, r->time,
                  r->duration, r->addr, r->bytes, r->flags, r->id, r->group);
    if (names->count > 0) {
        (void)fputc(',', to);
        if (r->kind == RECORD_KERNEL)
            csv_text_put(to, name_of(names, r->id), true);
    }
}

/* --- facts: rows of tables as JSON, which spreadsheets show and do not compute --- */

/* A JSON string that is one cell of CSV, commas and all, and begins with nothing that a spreadsheet would compute. */
static void put_text(FILE *to, const char *text)
{
    (void)fputc('"', to);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p < ' ' || *p == 0x7f || *p == '"' || *p == '\\' ||
            (p == (const unsigned char *)text && strchr("=+-@", *p)))
            (void)fprintf(to, "\\u%04x", *p);
        else
            (void)fputc(*p, to);
    (void)fputc('"', to);
}

/* Without the NULLs at its end. */
static void put_row(FILE *to, const struct store_value *v, size_t n)
{
    while (n > 1 && v[n - 1].type == STORE_NULL)
        n--;
    for (size_t i = 0; i < n; i++) {
        (void)fputs(i ? "," : "[", to);
        if (v[i].type == STORE_TEXT)
            put_text(to, v[i].s);
        else if (v[i].type == STORE_INT)
            (void)fprintf(to, "%" PRId64, v[i].i);
        else if (v[i].type == STORE_REAL && isfinite(v[i].r))
            (void)fprintf(to, "%.17g", v[i].r);
        else
            (void)fputs("null", to);
    }
    (void)fputs("]\n", to);
}

struct facts_to {
    struct exporter_context *context;
    const char *table;
};

static size_t text_bytes(const struct store_value *v, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += v[i].type == STORE_TEXT ? strlen(v[i].s) : 0;
    return bytes;
}

static int put_fact(void *ctx, const struct store_value *v, size_t n)
{
    const struct facts_to *f = ctx;
    if (strcmp(f->table, "origin") == 0 && store_passing_fact(v[0].s))
        return 0;
    if (text_bytes(v, n) > TEXT_MOST) {
        exporter_skip(f->context, "a row of facts with over 128 KiB of text has no form in csv");
        return 0;
    }
    (void)fprintf(f->context->to, CSV_FACT "%s ", f->table);
    put_row(f->context->to, v, n);
    return 0;
}

/* Batches that a driver's log states; others are rebuilt of the records when they are read. */
static bool stated_batches(const struct store *store)
{
    return store_stream_find(store, "faults") >= 0 || store_stream_find(store, "batches") >= 0;
}

static int write_facts(struct exporter_context *context, struct err *err)
{
    struct schema *schema = schema_trace(err);
    int rc = schema ? 0 : -1;
    (void)fprintf(context->to, CSV_HEAD "\n" CSV_STATE "%s\n",
                  store_complete(context->store) ? "complete" : "incomplete");
    for (int t = 0; rc == 0 && t < schema->count; t++) {
        struct facts_to f = {context, schema->table[t].name};
        const enum fact fact = fact_of_table(f.table);
        if (strcmp(f.table, "origin") == 0 ||
            (fact < FACTS && (fact != FACT_BATCHES || stated_batches(context->store))))
            rc = store_rows(context->store, f.table, put_fact, &f, err);
    }
    free(schema);
    return rc;
}

static int write_stream(struct exporter_context *context, int index, const struct names *names, struct err *err)
{
    const struct stream *stream = store_stream(context->store, index);
    const struct store_value row[] = {
        STORE_V_TEXT(stream->name),    STORE_V_TEXT(time_unit_name(stream->unit)),   STORE_V_TEXT(stream->clock),
        STORE_V_INT(stream->clock_hz), STORE_V_TEXT(addr_space_name(stream->space)), STORE_V_TEXT(stream->addr_layout)};
    struct store_walk w = {0};
    (void)fputs(CSV_STREAM, context->to);
    put_row(context->to, row, sizeof row / sizeof *row);
    put_header(context->to, stream, names->count > 0);
    while (!ferror(context->to) && store_walk_next(&w, context->store, index, err)) {
        put_record(context->to, w.r, names);
        for (int e = 0; e < STORE_EXTRAS && stream->extra[e][0]; e++)
            (void)fprintf(context->to, ",%" PRId64, store_walk_extra(&w, e));
        (void)fputc('\n', context->to);
        context->written++;
    }
    return store_walk_end(&w);
}

static int write_streams(struct exporter_context *context, const struct names *names, struct err *err)
{
    int rc = write_facts(context, err);
    for (int s = 0; rc == 0 && s < store_stream_count(context->store); s++)
        if (context->stream < 0 || s == context->stream)
            rc = write_stream(context, s, names, err);
    (void)fprintf(context->to, CSV_END "%" PRIu64 "\n", context->written);
    return rc;
}

static int write_csv(const struct exporter *exporter, struct exporter_context *context, struct err *err)
{
    (void)exporter;
    struct names names = {.err = err};
    int rc = store_rows(context->store, "kernels", take_name, &names, err);
    if (rc == 0)
        rc = write_streams(context, &names, err);
    for (size_t i = 0; i < names.count; i++)
        free(names.items[i].name);
    free(names.items);
    return rc;
}

const struct exporter export_csv = {
    .name = "csv",
    .summary = "our plain form, read back by import: kind,time_ns,dur_ns,addr,bytes,flags,id,group,name",
    .carries = FACTS_ALL,
    .write = write_csv,
};
