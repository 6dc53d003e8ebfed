#include "trace/import/uvmeval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"

enum { UTLBS = 1 << 16 };

static int add(struct uvmeval_spans *s, uint64_t start, uint64_t end, bool range, struct err *err)
{
    if (s->count == UVMEVAL_SPANS_MAX)
        return err_set(err, "more than %d ranges and VA blocks", UVMEVAL_SPANS_MAX);
    if (mem_grow((void **)&s->items, &s->cap, s->count + 1, sizeof *s->items, err))
        return -1;
    s->items[s->count++] = (struct uvmeval_span){start, end, range};
    return 0;
}

int uvmeval_spans_range(struct uvmeval_spans *s, uint64_t start, uint64_t bytes, struct err *err)
{
    uint64_t from = start / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
    uint64_t to = (start + bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
    return add(s, from, to, true, err);
}

static int by_start(const void *a, const void *b)
{
    const struct uvmeval_span *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : 0;
}

/* Sort, and join VA blocks seen twice: a log visits few blocks many times. */
static void drop_twins(struct uvmeval_spans *s)
{
    size_t n = 0;
    qsort(s->items, s->count, sizeof *s->items, by_start);
    for (size_t i = 0; i < s->count; i++)
        if (n == 0 || s->items[i].range || s->items[n - 1].range || s->items[i].start != s->items[n - 1].start)
            s->items[n++] = s->items[i];
    s->count = n;
}

int uvmeval_spans_fault(struct uvmeval_spans *s, uint64_t addr, struct err *err)
{
    uint64_t block = addr / ACTOR_BLOCK_BYTES * ACTOR_BLOCK_BYTES;
    if (s->last_block == block + 1)
        return 0;
    s->last_block = block + 1; /* 0: none yet */
    if (s->count >= 4096 && (s->count & (s->count - 1)) == 0)
        drop_twins(s);
    return add(s, block, block + ACTOR_BLOCK_BYTES, false, err);
}

/* The allocations: ranges joined where they overlap, of those only the ones that a block with faults meets; and the
 * blocks that meet no range, neighbours joined. Sorted, without overlap. */
static int make_allocations(struct uvmeval_spans *s, struct uvmeval_spans *out, struct err *err)
{
    size_t ranges = 0, r = 0, added = 0; /* ranges [0, added) are in *out, or before every block so far */
    int rc = 0;
    drop_twins(s);
    struct uvmeval_span *joined = mem_zalloc(s->count, sizeof *joined, err);
    if (!joined)
        return -1;
    for (size_t i = 0; i < s->count; i++) {
        const struct uvmeval_span *span = &s->items[i];
        if (!span->range)
            continue;
        if (ranges && span->start < joined[ranges - 1].end)
            joined[ranges - 1].end = span->end > joined[ranges - 1].end ? span->end : joined[ranges - 1].end;
        else
            joined[ranges++] = *span;
    }
    for (size_t i = 0; rc == 0 && i < s->count; i++) {
        const struct uvmeval_span *block = &s->items[i];
        if (block->range)
            continue;
        while (r < ranges && joined[r].end <= block->start)
            r++;
        bool met = r < ranges && joined[r].start < block->end;
        for (size_t k = r; rc == 0 && k < ranges && joined[k].start < block->end; k++)
            if (k >= added) {
                rc = add(out, joined[k].start, joined[k].end, true, err);
                added = k + 1;
            }
        struct uvmeval_span *last = out->count ? &out->items[out->count - 1] : NULL;
        if (!met && last && !last->range && last->end == block->start)
            last->end = block->end;
        else if (!met)
            rc = add(out, block->start, block->end, false, err);
    }
    free(joined);
    return rc;
}

struct touching {
    struct store *store;
    int stream;
    const struct uvmeval_spans *allocations;
    struct utlb {
        uint32_t batch; /* + 1 */
        uint32_t touches, step;
    } * utlbs;
    uint64_t beside;    /* faults in no allocation */
    int64_t allocation; /* number of the next one in the trace */
    size_t n;
    struct record records[STORE_BATCH];
};

static int push(struct touching *t, const struct record *record, struct err *err)
{
    t->records[t->n++] = *record;
    if (t->n < STORE_BATCH)
        return 0;
    t->n = 0;
    return store_append(t->store, t->stream, t->records, NULL, STORE_BATCH, err);
}

static bool allocated(const struct uvmeval_spans *a, uint64_t addr)
{
    size_t lo = 0, hi = a->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (a->items[mid].start <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && addr < a->items[lo - 1].end;
}

static int touch(struct touching *t, const struct record *fault, struct err *err)
{
    uint64_t actor = (fault->id & 0xff) | (fault->id >> 16 & 0xff) << 8;
    struct utlb *u = &t->utlbs[actor];
    if (!allocated(t->allocations, fault->addr)) {
        t->beside++;
        return 0;
    }
    if (u->batch && (u->batch != fault->group + 1 || u->touches == ACTOR_LOADS)) {
        u->step++;
        u->touches = 0;
    }
    u->batch = fault->group + 1;
    const struct record record = {.time = u->step,
                                  .addr = fault->addr / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES,
                                  .bytes = u->touches++ == 0 ? fault->bytes : 0,
                                  .id = actor,
                                  .flags = fault->flags == RECORD_WRITE || fault->flags == RECORD_ATOMIC ? fault->flags
                                                                                                         : RECORD_READ,
                                  .kind = RECORD_TOUCH};
    return push(t, &record, err);
}

static int touch_all(struct touching *t, int faults, struct err *err)
{
    const struct record *records;
    size_t n;
    for (size_t i = 0; i < t->allocations->count; i++) {
        const struct uvmeval_span *a = &t->allocations->items[i];
        const struct record alloc = {.addr = a->start,
                                     .bytes = a->end - a->start,
                                     .id = i,
                                     .group = 1, /* its data is on the host */
                                     .flags = RECORD_ALLOC_MANAGED,
                                     .kind = RECORD_ALLOC};
        const struct store_value row[] = {STORE_V_INT(t->allocation++),
                                          STORE_V_INT(a->start),
                                          STORE_V_INT(a->end - a->start),
                                          STORE_V_TEXT("managed"),
                                          STORE_V_NULL,
                                          STORE_V_NULL,
                                          STORE_V_NULL};
        if (push(t, &alloc, err) || store_row(t->store, "allocations", row, sizeof row / sizeof *row, err))
            return -1;
    }
    struct store_cursor *cursor = store_cursor_open(t->store, faults, err);
    if (!cursor)
        return -1;
    int rc;
    while ((rc = store_cursor_next(cursor, &records, NULL, &n, err)) > 0)
        for (size_t i = 0; i < n; i++)
            if (records[i].kind == RECORD_FAULT && touch(t, &records[i], err)) {
                store_cursor_close(cursor);
                return -1;
            }
    store_cursor_close(cursor);
    return rc < 0 || (t->n && store_append(t->store, t->stream, t->records, NULL, t->n, err)) ? -1 : 0;
}

int uvmeval_touches_write(struct uvmeval_spans *spans, struct store *store, int faults, uint64_t *beside,
                          struct err *err)
{
    struct stream stream = {.name = "touches", .unit = TIME_NONE, .space = ADDR_BYTES};
    for (int i = 2; store_stream_find(store, stream.name) >= 0; i++) /* of several logs */
        (void)snprintf(stream.name, sizeof stream.name, "touches-%d", i);
    struct uvmeval_spans allocations = {0};
    struct touching *t = mem_zalloc(1, sizeof *t, err);
    if (t)
        t->utlbs = mem_zalloc(UTLBS, sizeof *t->utlbs, err);
    int rc = t && t->utlbs ? make_allocations(spans, &allocations, err) : -1;
    if (rc == 0) {
        t->store = store;
        t->allocations = &allocations;
        rc = store_stream_add(store, &stream, &t->stream, err);
    }
    if (rc == 0 && store_row_count(store, "allocations", &t->allocation, err))
        rc = -1;
    if (rc == 0)
        rc = touch_all(t, faults, err);
    *beside = t ? t->beside : 0;
    if (t)
        free(t->utlbs);
    free(t);
    free(allocations.items);
    return rc;
}
