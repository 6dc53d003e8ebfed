/* conv2d: the 3x3 stencil of PolyBench-ACC, B = conv(A), one kernel, blocks of 32 x 8 threads.
 *
 * Thread (i, j) with 0 < i, j < N-1 reads A[i-1..i+1][j-1..j+1] and then writes B[i][j]. An actor is a block: its first
 * step is the loads of its 8 warps (10 rows of 34 columns), its second the stores. N = sqrt(bytes / 8) down to a
 * multiple of 32; B is never touched by the CPU.
 * Source: PolyBench-ACC, CUDA/stencils/2DCONV/2DConvolution.cu.
 * Differs: warps of a block go on together; blocks resident and compute time as measured for a TITAN V model. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/workloads/polybench/suite.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, BLOCKS_PER_SM = 8 };

struct conv2d_params {
    int64_t bytes, compute_ns;
};

struct conv2d {
    uint64_t n; /* rows and columns */
    uint32_t compute_ns;
    struct actor_alloc allocs[2];
    struct actor_writer writer;
};

static const struct param conv2d_params[] = {
    PARAM_BYTES_ROW(conv2d_params, bytes, 1 << 14, 0x1p38, 0x1p33, "both arrays together"),
    PARAM_NS_ROW(conv2d_params, compute_ns, 0, 1e9, 2200, "time of a block whose pages are all resident"),
    {0}};

static void *conv2d_open(const void *params, struct err *err)
{
    const struct conv2d_params *p = params;
    struct conv2d *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return NULL;
    c->n = (uint64_t)sqrt((double)p->bytes / 8) / BLOCK_X * BLOCK_X;
    c->compute_ns = (uint32_t)p->compute_ns;
    c->allocs[0] = (struct actor_alloc){.name = "A", .bytes = c->n * c->n * 4, .host = true};
    c->allocs[1] = (struct actor_alloc){.name = "B", .bytes = c->n * c->n * 4};
    actor_space_place(c->allocs, 2);
    if (actor_space_init(c->allocs, 2, err)) {
        free(c);
        return NULL;
    }
    return c;
}

static const struct actor_alloc *conv2d_allocs(const void *state, size_t *n)
{
    *n = 2;
    return ((const struct conv2d *)state)->allocs;
}

static uint32_t conv2d_launches(const void *state)
{
    (void)state;
    return 1;
}

static void conv2d_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    const struct conv2d *c = state;
    (void)launch;
    *out = (struct actor_launch){"conv2d", (uint32_t)(c->n / BLOCK_X * (c->n / BLOCK_Y)), BLOCKS_PER_SM, 1, false};
}

/* Touch columns [left, right] of rows [lo, hi] of an N x N float array. */
static void touch_rows(const struct conv2d *c, const struct actor_alloc *a, uint64_t lo, uint64_t hi, uint64_t left,
                       uint64_t right, struct actor_step *step)
{
    for (uint64_t row = lo; row <= hi; row++) {
        actor_touch(step, actor_page(a, (row * c->n + left) * 4));
        actor_touch(step, actor_page(a, (row * c->n + right) * 4));
    }
}

static int conv2d_step(void *run, uint32_t launch, uint32_t actor, uint32_t index, struct actor_step *step,
                       struct err *err)
{
    const struct conv2d *c = run;
    (void)launch;
    (void)err;
    if (index > 0)
        return 0;
    uint32_t across = (uint32_t)(c->n / BLOCK_X);
    uint64_t x = actor % across * BLOCK_X, y = actor / across * BLOCK_Y;
    uint64_t top = y ? y : 1, left = x ? x : 1; /* threads on the border do nothing */
    uint64_t bottom = y + BLOCK_Y - 1 < c->n - 2 ? y + BLOCK_Y - 1 : c->n - 2;
    uint64_t right = x + BLOCK_X - 1 < c->n - 2 ? x + BLOCK_X - 1 : c->n - 2;
    step->count = 0;
    step->writes = 0;
    step->compute_ns = 0;
    uint32_t warps = (uint32_t)(bottom - top + 1);
    if (index == 0) {
        touch_rows(c, &c->allocs[0], top - 1, bottom + 1, left - 1, right + 1, step);
        step->accesses = 3 * warps;
        step->compute_ns = c->compute_ns;
    }
    {
        touch_rows(c, &c->allocs[1], top, bottom, left, right, step);
        step->accesses += warps;
        step->writes = ~0ull;
    }
    return 1;
}

static int conv2d_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err);

static const struct actor_ops conv2d_ops = {
    .allocs = conv2d_allocs, .launches = conv2d_launches, .launch = conv2d_launch, .step = conv2d_step};

static int conv2d_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct conv2d *c = state;
    return actor_writer_next(&c->writer, &conv2d_ops, c, records, cap, n, err);
}

static void conv2d_close(void *state)
{
    free(state);
}

const struct workload_type workload_conv2d = {
    .name = "conv2d",
    .summary = "3x3 stencil over one array into another, one kernel",
    .source = "PolyBench-ACC CUDA/stencils/2DCONV",
    .produces = WORKLOAD_TOUCHES,
    .params = conv2d_params,
    .params_size = sizeof(struct conv2d_params),
    .open = conv2d_open,
    .close = conv2d_close,
    .ops = &conv2d_ops,
    .next = conv2d_next,
};
