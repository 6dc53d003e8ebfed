/* triad: c = a + 3 b over three arrays of floats, grid-stride, blocks of 256 threads.
 *
 * An actor is a warp; a step is one turn of its loop: 128 bytes of a and of b, then 128 bytes of c. All three arrays
 * are written by the CPU first. Each has bytes/3, down to a multiple of 4.
 * Source: the STREAM triad, as measured on the H200 (docs/uvm-engine.md). */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/workloads/micro/suite.h"

enum { WARP = 32, WARPS_PER_SM = 64 };

struct triad_params {
    int64_t bytes, blocks, threads, compute_ns;
};

struct triad {
    uint64_t bytes;  /* of one array */
    uint64_t stride; /* bytes that the grid covers in one turn */
    uint32_t warps, warps_per_block, compute_ns;
    struct actor_alloc allocs[3];
    struct actor_writer writer;
};

static const struct param triad_params[] = {
    PARAM_BYTES_ROW(triad_params, bytes, 12288, 0x1p38, 0x1p28, "all three arrays together"),
    PARAM_INT_ROW(triad_params, blocks, "", 1, 1 << 20, 1024, "thread blocks"),
    PARAM_INT_ROW(triad_params, threads, "", 32, 1024, 256, "threads of a block"),
    PARAM_NS_ROW(triad_params, compute_ns, 0, 1e9, 700, "time of a turn of the loop, all pages resident"),
    {0}};

static void *triad_open(const void *params, struct err *err)
{
    const struct triad_params *p = params;
    struct triad *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return NULL;
    t->bytes = (uint64_t)p->bytes / 3 / 4 * 4;
    t->warps_per_block = (uint32_t)(p->threads + WARP - 1) / WARP;
    t->warps = (uint32_t)p->blocks * t->warps_per_block;
    t->stride = (uint64_t)t->warps * WARP * 4;
    t->compute_ns = (uint32_t)p->compute_ns;
    for (int i = 0; i < 3; i++)
        t->allocs[i] = (struct actor_alloc){.name = {(char)('a' + i)}, .bytes = t->bytes, .host = true};
    actor_space_place(t->allocs, 3);
    if (actor_space_init(t->allocs, 3, err)) {
        free(t);
        return NULL;
    }
    return t;
}

static const struct actor_alloc *triad_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct triad *)state)->allocs;
}

static uint32_t triad_launches(const void *state)
{
    (void)state;
    return 1;
}

static void triad_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    const struct triad *t = state;
    (void)launch;
    *out = (struct actor_launch){"triad", t->warps, WARPS_PER_SM, t->warps_per_block, false};
}

static int triad_step(void *run, uint32_t launch, uint32_t actor, uint32_t index, struct actor_step *step,
                      struct err *err)
{
    const struct triad *t = run;
    (void)launch;
    (void)err;
    uint64_t offset = (uint64_t)actor * WARP * 4 + index / 2 * t->stride;
    if (offset >= t->bytes)
        return 0;
    bool store = index & 1;
    step->count = step->accesses = store ? 1 : 2;
    step->page[0] = actor_page(&t->allocs[store ? 2 : 0], offset);
    step->page[1] = actor_page(&t->allocs[1], offset);
    step->writes = store;
    step->compute_ns = store ? 0 : t->compute_ns;
    return 1;
}

static const struct actor_ops triad_ops = {
    .allocs = triad_allocs, .launches = triad_launches, .launch = triad_launch, .step = triad_step};

static int triad_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct triad *t = state;
    return actor_writer_next(&t->writer, &triad_ops, t, records, cap, n, err);
}

static void triad_close(void *state)
{
    free(state);
}

const struct workload_type workload_triad = {
    .name = "triad",
    .summary = "c = a + 3 b over three arrays, grid-stride",
    .source = "STREAM triad, docs/uvm-engine.md",
    .produces = WORKLOAD_TOUCHES,
    .params = triad_params,
    .params_size = sizeof(struct triad_params),
    .open = triad_open,
    .close = triad_close,
    .ops = &triad_ops,
    .next = triad_next,
};
