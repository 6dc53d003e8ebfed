#include "replay/zerocopy/zerocopy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/units.h"
#include "trace/workloads/workload.h"

struct zerocopy_trace {
    struct store *store;
    int stream;
    struct scan_setup setup;
    uint64_t roots;
    struct store_walk walk;
    bool pending;    /* walk.r is not taken yet */
    uint64_t number; /* of the record, for messages */
    uint32_t launch;
    struct scan last; /* of this launch; count 0: none */
    struct scan *scans;
};

/* --- what was scanned --- */

static int on_structure(void *ctx, const struct store_value *values, size_t n)
{
    struct zerocopy_trace *t = ctx;
    if (n < 5 || t->setup.structure_count == 2)
        return 0;
    size_t i = t->setup.structure_count++;
    t->setup.structures[i] = (struct scan_structure){i ? "companion" : "structure", (uint64_t)values[2].i,
                                                     (uint32_t)values[3].i, (uint64_t)values[4].i};
    return 0;
}

static int64_t key_int(const struct store *store, const char *key, int64_t otherwise)
{
    char name[96];
    (void)snprintf(name, sizeof name, "workload.%s", key);
    const char *text = store_origin_get(store, name);
    int64_t value;
    return text && units_parse_bytes(text, &value, NULL) == 0 ? value : otherwise;
}

static enum scan_reuse key_reuse(const struct store *store)
{
    static const char *const names[] = {"auto", "none", "prevwarp", "warp", "group4", "l1"};
    const char *text = store_origin_get(store, "workload.reuse");
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], text) == 0)
            return (enum scan_reuse)i;
    return REUSE_AUTO;
}

/* As the workload's setup() fills it; the keys stand in the trace's origin. */
static void read_keys(struct zerocopy_trace *t)
{
    const struct store *store = t->store;
    const char *workload = store_origin_get(store, "workload");
    struct scan_setup *s = &t->setup;
    const bool sssp = workload && strcmp(workload, "sssp") == 0;
    const bool gather = workload && (strcmp(workload, "gather") == 0 || strcmp(workload, "embedding") == 0 ||
                                     strcmp(workload, "kv-load") == 0);
    const int64_t row = key_int(store, "row_bytes", key_int(store, "block_bytes", 4));
    bool sweep = workload && (strcmp(workload, "cc") == 0 || strcmp(workload, "pagerank") == 0) &&
                 key_int(store, "iterations", 0) == 1;
    s->shape = gather ? SCAN_ROWS : SCAN_LISTS;
    s->reuse = key_reuse(store);
    s->row_elements = gather ? row / s->structures[0].element : 0;
    s->threads_per_block = key_int(store, "threads_per_block", gather ? 256 : 128);
    s->visits = !gather && !sweep;
    s->unmasked_head = sssp;
    s->lanes = (uint64_t)key_int(store, "lanes", 0);
    t->roots = (uint64_t)key_int(store, "runs", 1);
    if (!t->roots)
        t->roots = 1;
}

static int check_setup(const struct zerocopy_trace *t, struct err *err)
{
    const struct scan_setup *s = &t->setup;
    for (size_t i = 0; i < s->structure_count; i++) {
        const struct scan_structure *d = &s->structures[i];
        if ((d->element != 4 && d->element != 8 && d->element != 16) || d->elements == 0 ||
            d->elements > (1ULL << 46) || d->base > (1ULL << 47))
            return err_set(err, "%s: structure %zu: %" PRIu64 " elements of %u bytes; expected 4, 8 or 16 bytes",
                           store_path(t->store), i, d->elements, d->element);
    }
    if (s->structure_count == 0)
        return err_set(err, "%s: no structures are described; SCAN records cannot be understood", store_path(t->store));
    if (s->threads_per_block < 1 || s->threads_per_block > 1024 || (s->shape == SCAN_ROWS && s->row_elements < 1))
        return err_set(err, "%s: the workload's keys are damaged", store_path(t->store));
    return 0;
}

struct zerocopy_trace *zerocopy_trace_open(struct store *store, struct err *err)
{
    struct zerocopy_trace *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return NULL;
    t->store = store;
    t->stream = store_stream_find(store, "scans");
    t->scans = mem_zalloc(SCAN_BATCH, sizeof *t->scans, err);
    int rc = t->scans ? 0 : -1;
    if (!rc && t->stream < 0)
        rc = err_set(err, "%s holds no scans of host memory; 'offchip synth bfs,... -o FILE' makes some",
                     store_path(store));
    if (!rc)
        rc = store_rows(store, "structures", on_structure, t, err);
    if (!rc) {
        if (t->setup.structure_count)
            read_keys(t);
        rc = check_setup(t, err);
    }
    if (rc) {
        zerocopy_trace_close(t);
        return NULL;
    }
    return t;
}

void zerocopy_trace_close(struct zerocopy_trace *t)
{
    (void)store_walk_end(&t->walk);
    free(t->scans);
    free(t);
}

/* --- records --- */

static void setup(void *state, struct scan_setup *s)
{
    *s = ((const struct zerocopy_trace *)state)->setup;
}

static int start(void *state, struct err *err)
{
    struct zerocopy_trace *t = state;
    (void)err;
    (void)store_walk_end(&t->walk);
    t->walk = (struct store_walk){0};
    t->pending = false;
    t->number = 0;
    t->launch = 0;
    t->last = (struct scan){0};
    return 0;
}

/* The next record, not taken: 1, 0 at the end, -1. */
static int peek(struct zerocopy_trace *t, const struct record **record, struct err *err)
{
    if (!t->pending)
        t->pending = store_walk_next(&t->walk, t->store, t->stream, err);
    *record = t->walk.r;
    return t->pending ? 1 : t->walk.failed ? -1 : 0;
}

/* A SCAN record as a scan; scans of the companion structure repeat those of the first and are left out. */
static int convert(struct zerocopy_trace *t, const struct record *r, struct scan *scan, struct err *err)
{
    const struct scan_structure *d = &t->setup.structures[0];
    uint64_t offset = r->addr - d->base;
    if (r->addr < d->base || offset % d->element || r->bytes % d->element || r->bytes == 0 ||
        offset / d->element >= d->elements || r->bytes / d->element > d->elements - offset / d->element)
        return err_set(err,
                       "%s: record %" PRIu64 ": %" PRIu64 " bytes at 0x%" PRIx64 " are no elements of the structure",
                       store_path(t->store), t->number, r->bytes, r->addr);
    *scan = (struct scan){offset / d->element, r->bytes / d->element, r->id};
    bool rows = t->setup.shape == SCAN_ROWS;
    if (rows && (scan->count != (uint64_t)t->setup.row_elements || scan->first % scan->count))
        return err_set(err, "%s: record %" PRIu64 " is no row of %lld elements", store_path(t->store), t->number,
                       (long long)t->setup.row_elements);
    if (t->last.count && (scan->lane <= t->last.lane || (!rows && scan->first < t->last.first + t->last.count)))
        return err_set(err, "%s: record %" PRIu64 ": lanes and lists must ascend within a launch", store_path(t->store),
                       t->number);
    return 0;
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    struct zerocopy_trace *t = state;
    const struct record *r;
    size_t n = 0;
    uint64_t range = 0;
    int rc;
    *batch = (struct scan_batch){t->launch, t->scans, 0, false};
    while ((rc = peek(t, &r, err)) > 0) {
        struct scan scan;
        if (r->kind == RECORD_SCAN && r->flags == 0) {
            if (convert(t, r, &scan, err))
                return -1;
            if (n && (scan.lane / SCAN_BATCH != range || n == SCAN_BATCH))
                break;
            range = scan.lane / SCAN_BATCH;
            t->scans[n++] = t->last = scan;
        }
        t->pending = false;
        t->number++;
        if (r->kind == RECORD_KERNEL_END) {
            batch->last = true;
            t->launch++;
            t->last.count = 0;
            break;
        }
    }
    batch->n = n;
    if (rc < 0)
        return -1;
    if (rc == 0 && n) {
        batch->last = true; /* a trace cut before the end of its launch */
        t->launch++;
    }
    return n || batch->last;
}

static uint64_t runs(void *state)
{
    return ((const struct zerocopy_trace *)state)->roots;
}

const struct scan_ops zerocopy_trace_ops = {setup, start, next, runs};
