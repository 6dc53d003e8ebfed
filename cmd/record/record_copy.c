#include "cmd/record/record_copy.h"

#include <string.h>

struct copying {
    struct store *out;
    const char *table;
    struct err *err;
};

static int copy_row(void *ctx, const struct store_value *values, size_t n)
{
    const struct copying *c = ctx;
    return store_row(c->out, c->table, values, n, c->err);
}

static int copy_origin(void *ctx, const struct store_value *values, size_t n)
{
    const struct copying *c = ctx;
    static const char *const own[] = {"state", "created", "derived"};
    for (size_t i = 0; n > 1 && i < sizeof own / sizeof *own; i++)
        if (strcmp(values[0].s, own[i]) == 0)
            return 0;
    return n > 1 ? store_origin(c->out, values[0].s, values[1].s, c->err) : 0;
}

static int copy_count(void *ctx, const struct store_value *values, size_t n)
{
    const struct copying *c = ctx;
    uint64_t count = n > 1 ? (uint64_t)values[1].i : 0;
    return (strcmp(c->table, "skipped") == 0 ? store_skip : store_drop)(c->out, values[0].s, count, c->err);
}

int record_copy_table(struct store *in, struct store *out, const char *table, struct err *err)
{
    struct copying c = {out, table, err};
    return store_rows(in, table, copy_row, &c, err) ? -1 : 0;
}

int record_copy_facts(struct store *in, struct store *out, struct err *err)
{
    static const char *const counts[] = {"skipped", "dropped"};
    struct copying c = {out, "origin", err};
    if (store_rows(in, "origin", copy_origin, &c, err) || record_copy_table(in, out, "parameters", err))
        return -1;
    for (int i = 0; i < 2; i++) {
        c.table = counts[i];
        if (store_rows(in, counts[i], copy_count, &c, err))
            return -1;
    }
    return 0;
}

int record_copy_stream(struct store *in, struct store *out, const char *name, struct err *err)
{
    int from = store_stream_find(in, name), to;
    struct store_cursor *cursor = from < 0 ? NULL : store_cursor_open(in, from, err);
    const struct record *records;
    const int64_t *extra;
    size_t n;
    int rc = 1;
    if (from < 0)
        return 0;
    if (!cursor || store_stream_add(out, store_stream(in, from), &to, err)) {
        store_cursor_close(cursor);
        return -1;
    }
    while (rc > 0 && (rc = store_cursor_next(cursor, &records, &extra, &n, err)) > 0)
        if (store_append(out, to, records, extra, n, err))
            rc = -1;
    store_cursor_close(cursor);
    return rc;
}
