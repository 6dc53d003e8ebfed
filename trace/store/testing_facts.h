/* testing_facts: a trace that has every fact of trace/store/facts.h, and what is in one, for comparing two. */
#pragma once

#include <inttypes.h>

#include "trace/base/testing.h"
#include "trace/store/facts.h"
#include "trace/store/schema.h"

static inline void testing_row(struct store *store, const struct schema_table *table)
{
    struct store_value row[SCHEMA_COLUMNS];
    for (int c = 0; c < table->columns; c++)
        row[c] = table->column[c].type == SCHEMA_TEXT   ? STORE_V_TEXT("=\"a\", \\b\xc3\xa9\n\t'")
                 : table->column[c].type == SCHEMA_REAL ? STORE_V_REAL(0.1 + c)
                                                        : STORE_V_INT(c ? INT64_MIN + c : 0);
    row[table->columns - 1] = table->column[table->columns - 1].required ? row[table->columns - 1] : STORE_V_NULL;
    if (strcmp(table->name, "skipped") == 0 || strcmp(table->name, "dropped") == 0)
        row[1] = STORE_V_INT(1000);
    WORKS(store_row(store, table->name, row, (size_t)table->columns, &err));
}

/* An incomplete trace of two streams at `path`; as a driver's log it states its batches. */
static inline void testing_all_facts(const char *path)
{
    struct err err = {""};
    const struct stream streams[] = {
        {"s=1", TIME_CYCLES, "dr,am", 850, ADDR_DRAM_PACKED, "ch:5 row:14", {"process_id", "dst_id"}, 0, 0, 0, 0},
        {"faults", TIME_NONE, "", 0, ADDR_BYTES, "", {""}, 0, 0, 0, 0}};
    const struct record record = {.kind = RECORD_KERNEL,
                                  .time = -5,
                                  .duration = 7,
                                  .addr = UINT64_MAX,
                                  .bytes = 3,
                                  .flags = UINT32_MAX,
                                  .id = UINT64_MAX - 1,
                                  .group = 9};
    const int64_t extra[] = {INT64_MIN, INT64_MAX};
    struct store *store = store_create(path, OUTPUT_REPLACE, "test", &err);
    struct schema *schema = schema_trace(&err);
    ck_assert_msg(store && schema, "%s", err.msg);
    for (int s = 0; s < 2; s++) {
        int index;
        ck_assert_int_eq(store_stream_add(store, &streams[s], &index, &err), 0);
        ck_assert_int_eq(store_append(store, index, &record, s ? NULL : extra, 1, &err), 0);
    }
    for (int t = 0; t < schema->count; t++)
        if (fact_of_table(schema->table[t].name) < FACTS)
            testing_row(store, &schema->table[t]);
    static const char *const keys[] = {"workload", "gpu.0.name", "created"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ck_assert_int_eq(store_origin(store, keys[i], "\"x\", y", &err), 0);
    ck_assert_int_eq(store_keep(store, &err), 0);
    store_close(store);
    free(schema);
}

static inline int testing_print_row(void *ctx, const struct store_value *v, size_t n)
{
    FILE *to = ctx;
    if (facts_of_making(v[0].s))
        return 0;
    for (size_t i = 0; i < n; i++)
        (void)fprintf(to, " %d:%" PRId64 ":%.17g:%s", v[i].type, v[i].i, v[i].r, v[i].s);
    (void)fputc('\n', to);
    return 0;
}

static inline void testing_print_records(struct store *store, int s, FILE *to)
{
    struct err err = {""};
    struct store_cursor *cursor = store_cursor_open(store, s, &err);
    const struct record *r;
    const int64_t *extra;
    size_t n;
    while (cursor && store_cursor_next(cursor, &r, &extra, &n, &err) == 1)
        for (size_t i = 0; i < n; i++) {
            (void)fprintf(to, "%u %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %u", r[i].kind,
                          r[i].time, r[i].duration, r[i].addr, r[i].bytes, r[i].flags, r[i].id, r[i].group);
            for (size_t e = 0; e < STORE_EXTRAS && store_stream(store, s)->extra[e][0]; e++)
                (void)fprintf(to, " %" PRId64, extra[e * n + i]);
            (void)fputc('\n', to);
        }
    store_cursor_close(cursor);
}

/* All that a trace says, but for the facts of its own making, as a text; to be freed. */
static inline char *testing_trace_text(struct store *store)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    struct schema *schema = GIVES(schema_trace(&err));
    ck_assert(to && schema);
    (void)fprintf(to, "%d\n", store_complete(store));
    for (int t = 0; t < schema->count; t++)
        if (strcmp(schema->table[t].name, "chunks") != 0) {
            (void)fprintf(to, "%s:\n", schema->table[t].name);
            WORKS(store_rows(store, schema->table[t].name, testing_print_row, to, &err));
        }
    for (int s = 0; s < store_stream_count(store); s++)
        testing_print_records(store, s, to);
    free(schema);
    (void)fclose(to);
    return text;
}
