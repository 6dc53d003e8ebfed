#include "trace/derived/attribution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"

/* --- the ranges that a program named itself (NVTX), and which of them is the innermost at each moment ---
 *
 * On one thread ranges nest: the one that began last and is still open is the innermost (of those that began together,
 * the one that ends first). Ranges with a beginning and an end of their own need not nest; the same holds of them.
 * Times are the processor's: what a range launched and did not wait for runs after it. Zeroed to start. */
struct nesting {
    struct nesting_range {
        int64_t start, end; /* ns; end > start */
        uint64_t row;       /* whose it is: as read, its name's row of table strings */
        uint32_t thread;
    } * items;
    size_t count, cap;
    struct nesting_name *names; /* by row */
};

struct nesting_name {
    UT_hash_handle hh;
    uint64_t row;
    char *text;
};

static void nesting_release(struct nesting *nesting)
{
    HASH_FREE(nesting->names, name, free(name->text));
    free(nesting->items);
    memset(nesting, 0, sizeof *nesting);
}

static struct nesting_name *find(const struct nesting *nesting, uint64_t row)
{
    struct nesting_name *name;
    HASH_FIND(hh, nesting->names, &row, sizeof row, name);
    return name;
}

/* The name in that row of table strings, "" if there is none; of a row that some range was read with. */
static const char *nesting_name(const struct nesting *nesting, uint64_t row)
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
    struct nesting_name *name = find(naming->nesting, (uint64_t)values[0].i);
    (void)n;
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
    if (want_name(nesting, r->id, err))
        return -1;
    return MEM_ADD(nesting->items, nesting->count, nesting->cap, err,
                   (struct nesting_range){r->time, r->time + r->duration, r->id, r->group});
}

static int read_stream(struct nesting *nesting, struct store *store, int index, struct err *err)
{
    struct store_walk w = {0};
    while (store_walk_next(&w, store, index, err))
        w.failed = take(nesting, w.r, err);
    return store_walk_end(&w);
}

/* Take the ranges of all streams in ns; marks, which take no time, are passed over. */
static int nesting_read(struct nesting *nesting, struct store *store, struct err *err)
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
    return ORDER_OF(x->thread, y->thread) ?: ORDER_OF(x->start, y->start) ?: ORDER_OF(y->end, x->end) ?: ORDER_OF(x->row, y->row);
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

/* Add to *map, for each thread by itself, at which times which row is the innermost; rows are below 2^63. Changes the
 * order of the items. */
static int nesting_innermost(struct nesting *nesting, struct range_map *map, struct err *err)
{
    struct open open = {.ranges = mem_zalloc(nesting->count, sizeof *open.ranges, err)};
    int rc = open.ranges ? 0 : -1;
    if (rc == 0)
        sort_items(nesting->items, nesting->count, sizeof *nesting->items, outer_first);
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

/* --- owners --- */

/* The name of kernels or ranges, and its owner. */
struct named {
    UT_hash_handle hh;
    size_t owner;
    char name[];
};

struct filling {
    struct attribution *attribution;
    struct named *names;
    uint64_t *ids; /* sorted; NULL: all rows */
    size_t id_count;
    struct err *err;
};

void attribution_release(struct attribution *attribution)
{
    for (size_t i = 0; i < attribution->count; i++)
        free(attribution->items[i].name);
    free(attribution->items);
    range_map_release(&attribution->spans);
    memset(attribution, 0, sizeof *attribution);
}

static struct owner *add(struct filling *f, const char *name)
{
    struct attribution *o = f->attribution;
    char *copy = mem_strdup(name, f->err);
    if (!copy || mem_grow((void **)&o->items, &o->cap, o->count + 1, sizeof *o->items, f->err)) {
        free(copy);
        return NULL;
    }
    o->items[o->count] = (struct owner){.name = copy};
    return &o->items[o->count++];
}

/* The owner of kernels or ranges called `name`, made at first need. */
static struct owner *named(struct filling *f, const char *name)
{
    struct named *found = NULL;
    size_t length = strlen(name);
    HASH_FIND(hh, f->names, name, length, found);
    if (found)
        return &f->attribution->items[found->owner];
    found = mem_zalloc(1, sizeof *found + length + 1, f->err);
    if (!found)
        return NULL;
    memcpy(found->name, name, length + 1);
    found->owner = f->attribution->count;
    HASH_ADD_KEYPTR(hh, f->names, found->name, length, found);
    if (hash_has(found))
        return add(f, name);
    free(found);
    (void)err_set(f->err, "out of memory");
    return NULL;
}

static bool is_wanted(const struct filling *f, int64_t row)
{
    const uint64_t id = (uint64_t)row;
    return !f->ids || sort_find(&id, f->ids, f->id_count, sizeof id, sorted_by_u64);
}

/* kernels(id, name, launch, start_ns, duration_ns, ...) */
static int take_kernel(void *ctx, const struct store_value *values, size_t n)
{
    struct filling *f = ctx;
    (void)n;
    if (!is_wanted(f, values[0].i))
        return 0;
    struct owner *owner = named(f, values[1].s);
    if (!owner)
        return -1;
    owner->launches++;
    owner->untimed += values[3].type != STORE_INT || values[4].type != STORE_INT;
    int64_t start = values[3].i, duration = values[4].i, end;
    if (start == 0 || duration <= 0 || __builtin_add_overflow(start, duration, &end))
        return 0;
    if (__builtin_add_overflow(owner->time_ns, duration, &owner->time_ns))
        owner->time_ns = INT64_MAX;
    return range_map_add(&f->attribution->spans, start, end, owner - f->attribution->items, f->err);
}

/* allocations(id, addr, bytes, kind, name, alloc_ns, free_ns) */
static int take_allocation(void *ctx, const struct store_value *values, size_t n)
{
    struct filling *f = ctx;
    (void)n;
    if (!is_wanted(f, values[0].i))
        return 0;
    char name[160];
    int64_t addr = values[1].i, bytes = values[2].i, end;
    (void)snprintf(name, sizeof name, "%lld %.60s%s%.60s", (long long)values[0].i, values[3].s, *values[4].s ? " " : "",
                   values[4].s);
    struct owner *owner = add(f, name);
    if (!owner)
        return -1;
    owner->addr = (uint64_t)addr;
    owner->bytes = (uint64_t)bytes;
    if (bytes <= 0 || __builtin_add_overflow(addr, bytes, &end))
        return 0;
    return range_map_add(&f->attribution->spans, addr, end, owner - f->attribution->items, f->err);
}

/* Ranges of one name are one owner, which takes the place of the name's id. */
static int take_ranges(struct filling *f, struct store *store)
{
    struct nesting ranges = {0};
    int rc = nesting_read(&ranges, store, f->err);
    for (size_t i = 0; rc == 0 && i < ranges.count; i++) {
        struct nesting_range *r = &ranges.items[i];
        struct owner *owner = named(f, nesting_name(&ranges, r->row));
        if (!owner) {
            rc = -1;
            break;
        }
        r->row = (uint64_t)(owner - f->attribution->items);
        owner->launches++;
        if (__builtin_add_overflow(owner->time_ns, r->end - r->start, &owner->time_ns))
            owner->time_ns = INT64_MAX;
    }
    if (rc == 0)
        rc = nesting_innermost(&ranges, &f->attribution->spans, f->err);
    nesting_release(&ranges);
    return rc;
}

/* What owners of a kind are made of, and what those are called that stand for several and for none. */
static const struct {
    const char *table; /* NULL: from records */
    int (*take)(void *ctx, const struct store_value *values, size_t n);
    const char *several, *none;
} kinds[] = {
    [ATTRIBUTION_KERNEL] = {"kernels", take_kernel, "(ambiguous: several kernels at once)", "(outside kernels)"},
    [ATTRIBUTION_ALLOCATION] = {"allocations", take_allocation, "(ambiguous: several allocations)",
                                "(outside known allocations)"},
    [ATTRIBUTION_RANGE] = {NULL, NULL, "(ambiguous: threads in several ranges)", "(outside ranges)"},
};

static int fill(struct filling *f, struct store *store)
{
    const enum attribution_by by = f->attribution->by;
    if (kinds[by].table ? store_rows(store, kinds[by].table, kinds[by].take, f, f->err) : take_ranges(f, store))
        return -1;
    if (f->attribution->count == 0)
        return 0;
    return add(f, kinds[by].several) && add(f, kinds[by].none) ? range_map_build(&f->attribution->spans, f->err) : -1;
}

int attribution_init(struct attribution *attribution, struct store *store, enum attribution_by by, const uint64_t *ids,
                     size_t n, struct err *err)
{
    *attribution = (struct attribution){.by = by};
    struct filling filling = {.attribution = attribution, .id_count = n, .err = err};
    if (n) {
        filling.ids = mem_zalloc(n, sizeof *filling.ids, err);
        if (!filling.ids)
            return -1;
        memcpy(filling.ids, ids, n * sizeof *ids);
        sort_items(filling.ids, n, sizeof *filling.ids, sorted_by_u64);
    }
    int rc = fill(&filling, store);
    HASH_FREE(filling.names, entry, (void)0);
    free(filling.ids);
    if (rc)
        attribution_release(attribution);
    return rc;
}

size_t attribution_find(const struct attribution *attribution, int64_t point)
{
    int64_t row = range_map_find(&attribution->spans, point);
    return row >= 0 ? (size_t)row : attribution->count - (row == RANGE_MAP_SEVERAL ? 2 : 1);
}
