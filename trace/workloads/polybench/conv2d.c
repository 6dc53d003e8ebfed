/* conv2d: the 3x3 stencil of PolyBench-ACC, B = conv(A), N x N floats, one kernel.
 *
 *     i = blockIdx.y 8 + threadIdx.y, j = blockIdx.x 32 + threadIdx.x, as many blocks as cover N x N
 *     if (0 < i, j < N-1)
 *         B[i][j] = sum of c[y][x] A[i+y-1][j+x-1], y and x from 0 to 2
 *
 * Arrays: A, written by the CPU; B, never touched by it. Blocks of 32 x 8 threads: a warp is 32 points of one row. All
 * nine loads are issued, row by row, then the first is used; the store comes last. On the border threads do nothing.
 * N = sqrt(bytes / 8) down to a multiple of 32, or `n`.
 * Instructions, order, registers: counted in the machine code that nvcc 13.0 -O3 makes for sm_90 of
 * fixtures/cuda/kernels.cu: the first load is instruction 36 (from 0), the first multiplication 55, the store 64.
 * Source: PolyBench-ACC, CUDA/stencils/2DCONV/2DConvolution.cu, written anew in fixtures/cuda/kernels.cu. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/polybench/suite.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, REGISTERS = 30, GUARD = 23, A = 0, B = 1 };

struct conv2d_params {
    int64_t bytes, n, compute_ns;
};

struct conv2d {
    uint64_t n, across; /* rows and columns; blocks in x and in y */
    int64_t compute_ns;
    struct program_alloc allocs[2];
};

static const struct param conv2d_params[] = {
    PARAM_BYTES_ROW(conv2d_params, bytes, 8 * BLOCK_X * BLOCK_X, 0x1p38, 0x1p33, "both arrays together"),
    PARAM_INT_ROW(conv2d_params, n, "", 0, 1 << 18, 0, "rows and columns; 0: as many as `bytes` holds"),
    PARAM_NS_AUTO_ROW(conv2d_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *conv2d_open(const void *params, struct err *err)
{
    const struct conv2d_params *p = params;
    uint64_t n = p->n ? (uint64_t)p->n : (uint64_t)sqrt((double)p->bytes / 8) / BLOCK_X * BLOCK_X;
    struct conv2d *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return NULL;
    c->n = n;
    c->across = (n + BLOCK_X - 1) / BLOCK_X;
    c->compute_ns = p->compute_ns;
    c->allocs[A] = (struct program_alloc){.name = "A", .bytes = n * n * 4, .host = true};
    c->allocs[B] = (struct program_alloc){.name = "B", .bytes = n * n * 4};
    program_place(c->allocs, 2, 0, 0);
    return c;
}

static const struct program_alloc *conv2d_allocs(const void *state, size_t *n)
{
    *n = 2;
    return ((const struct conv2d *)state)->allocs;
}

static uint32_t conv2d_launches(const void *state)
{
    (void)state;
    return 1;
}

static void conv2d_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct conv2d *c = state;
    (void)launch;
    *out = (struct program_launch){.kernel = "conv2d",
                                   .blocks = c->across * ((c->n + BLOCK_Y - 1) / BLOCK_Y),
                                   .threads = BLOCK_X * BLOCK_Y,
                                   .registers = REGISTERS};
}

/* The loads and the store of points (i, x) to (i, x + 31). */
static void add_points(const struct conv2d *c, uint64_t i, uint64_t x, uint32_t active, struct program_body *body)
{
    static const uint16_t before[9] = {36, 0, 1, 1, 3, 0, 0, 0, 0}, use[9] = {19, 19, 18, 17, 14, 14, 14, 14, 14};
    for (unsigned k = 0; k < 9; k++) {
        uint64_t row = i + k / 3 - 1, column = x + k % 3 - 1; /* column - 1 of lane 0 is never accessed */
        struct program_access *a = program_load(body, c->allocs, A, (row * c->n + column) * 4, 4);
        a->active = active;
        a->before = before[k];
        a->use = use[k];
    }
    struct program_access *store = program_store(body, c->allocs, B, (i * c->n + x) * 4, 4);
    store->active = active;
    store->before = 14;
    body->after = 1;
}

static int conv2d_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                       struct err *err)
{
    const struct conv2d *c = run;
    (void)launch;
    (void)err;
    uint32_t block = (uint32_t)(warp / BLOCK_Y), across = (uint32_t)c->across; /* a launch has fewer than 2^32 warps */
    uint64_t x = (uint64_t)(block % across) * BLOCK_X, i = (uint64_t)(block / across) * BLOCK_Y + warp % BLOCK_Y;
    uint32_t active = x + 1 < c->n ? program_first_lanes(c->n - 1 - x) : 0; /* j < N-1 */
    if (x == 0)
        active &= ~1u;
    if (active == 0 || i == 0 || i + 1 >= c->n)
        return program_no_trip(index, GUARD, body);
    if (index > 0)
        return 0;
    body->last = true;
    add_points(c, i, x, active, body);
    return 1;
}

static const struct program_ops conv2d_ops = {
    .allocs = conv2d_allocs, .launches = conv2d_launches, .launch = conv2d_launch, .body = conv2d_body};

static int conv2d_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&conv2d_ops, state, ((const struct conv2d *)state)->compute_ns};
    return 0;
}

const struct workload_type workload_conv2d = {
    .name = "conv2d",
    .summary = "3x3 stencil over one array into another, one kernel",
    .source = "PolyBench-ACC CUDA/stencils/2DCONV",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = conv2d_params,
    .params_size = sizeof(struct conv2d_params),
    .open = conv2d_open,
    .close = free,
    .program = conv2d_program,
};
