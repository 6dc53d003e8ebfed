#include "trace/uvm/nesting.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"
#include "trace/base/mem.h"

struct nesting_name {
    UT_hash_handle hh;
    uint64_t row;
    char *text;
};

void nesting_release(struct nesting *nesting)
{
    struct nesting_name *name, *next;
    HASH_ITER(hh, nesting->names, name, next)
    {
        HASH_DEL(nesting->names, name);
        free(name->text);
        free(name);
    }
    free(nesting->items);
    memset(nesting, 0, sizeof *nesting);
}

static struct nesting_name *find(const struct nesting *nesting, uint64_t row)
{
    struct nesting_name *name;
    HASH_FIND(hh, nesting->names, &row, sizeof row, name);
    return name;
}

const char *nesting_name(const struct nesting *nesting, uint64_t row)
{
    const struct nesting_name *name = find(nesting, row);
    return name && name->text ? name->text : "";
}

/* Some range has the name in that row. */
static int want_name(struct nesting *nesting, uint64_t row, struct err *err)
{
    struct nesting_name *name = find(nesting, row);
    if (name)
        return 0;
    name = mem_zalloc(1, sizeof *name, err);
    if (!name)
        return -1;
    name->row = row;
    HASH_ADD(hh, nesting->names, row, sizeof name->row, name);
    if (hash_has(name))
        return 0;
    free(name);
    return err_set(err, "out of memory");
}

struct naming {
    struct nesting *nesting;
    struct err *err;
};

/* strings(id, text) */
static int take_name(void *ctx, const struct store_value *values, size_t n)
{
    const struct naming *naming = ctx;
    struct nesting_name *name = n >= 2 && values[1].s ? find(naming->nesting, (uint64_t)values[0].i) : NULL;
    if (!name || name->text)
        return 0;
    name->text = mem_strdup(values[1].s, naming->err);
    return name->text ? 0 : -1;
}

/* --- what a trace has --- */

static int take(struct nesting *nesting, const struct record *r, struct err *err)
{
    if (r->kind != RECORD_RANGE || r->duration <= 0)
        return 0;
    if (want_name(nesting, r->id, err) ||
        mem_grow((void **)&nesting->items, &nesting->cap, nesting->count + 1, sizeof *nesting->items, err))
        return -1;
    nesting->items[nesting->count++] = (struct nesting_range){r->time, r->time + r->duration, r->id, r->group};
    return 0;
}

static int read_stream(struct nesting *nesting, struct store *store, int index, struct err *err)
{
    struct store_cursor *cursor = store_cursor_open(store, index, err);
    if (!cursor)
        return -1;
    const struct record *records;
    size_t n;
    int more;
    while ((more = store_cursor_next(cursor, &records, NULL, &n, err)) > 0)
        for (size_t i = 0; i < n && more > 0; i++)
            if (take(nesting, &records[i], err))
                more = -1;
    store_cursor_close(cursor);
    return more;
}

int nesting_read(struct nesting *nesting, struct store *store, struct err *err)
{
    for (int i = 0; i < store_stream_count(store); i++)
        if (store_stream(store, i)->unit == TIME_NS && read_stream(nesting, store, i, err))
            return -1;
    struct naming naming = {nesting, err};
    return nesting->count ? store_rows(store, "strings", take_name, &naming, err) : 0;
}

/* --- which is innermost --- */

/* By thread; there the outer ones first. */
static int outer_first(const void *a, const void *b)
{
    const struct nesting_range *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The ranges of one thread that have begun, the innermost last, told up to `told`. */
struct open {
    const struct nesting_range **ranges;
    size_t count;
    int64_t told;
};

/* Say what is innermost until `time`, and leave what has ended by then. */
static int tell(struct open *open, int64_t time, struct range_map *map, struct err *err)
{
    while (open->count) {
        const struct nesting_range *inner = open->ranges[open->count - 1];
        int64_t until = inner->end < time ? inner->end : time;
        if (until > open->told) {
            if (range_map_add(map, open->told, until, (int64_t)inner->row, err))
                return -1;
            open->told = until;
        }
        if (inner->end > time)
            break;
        open->count--;
    }
    open->told = time;
    return 0;
}

int nesting_innermost(struct nesting *nesting, struct range_map *map, struct err *err)
{
    struct open open = {.ranges = mem_zalloc(nesting->count, sizeof *open.ranges, err)};
    int rc = open.ranges ? 0 : -1;
    if (rc == 0 && nesting->count)
        qsort(nesting->items, nesting->count, sizeof *nesting->items, outer_first);
    for (size_t i = 0; rc == 0 && i < nesting->count; i++) {
        const struct nesting_range *r = &nesting->items[i];
        if (i && r->thread != r[-1].thread)
            rc = tell(&open, INT64_MAX, map, err);
        if (open.count == 0)
            open.told = r->start;
        if (rc == 0)
            rc = tell(&open, r->start, map, err);
        open.ranges[open.count++] = r;
    }
    if (rc == 0)
        rc = tell(&open, INT64_MAX, map, err);
    free(open.ranges);
    return rc;
}
