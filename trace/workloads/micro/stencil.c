/* stencil: six points of the 3x3 neighbourhood in an array of n x n floats into another, one kernel.
 *
 *     i = blockIdx.y 8 + threadIdx.y, j = blockIdx.x 32 + threadIdx.x, as many blocks as cover n x n
 *     if (0 < i, j < n-1)
 *         b[i][j] = a weighted sum of a at [i-1][j], [i-1][j-1], [i+1][j], [i][j-1], [i][j+1] and [i][j]
 *
 * The kernel of the H200's recording (fixtures/traces/accesses_h200.txt.xz: conv, n 512), whose loads are those six, in
 * that order; replay/derive/recorded_kernels_test.c compares it, access by access. Array a is written by the CPU; b is
 * never touched by it. A warp is 32 points of one row; on the border threads do nothing.
 * Instructions between accesses: the distances of their pcs, 16 B each: loads 0, 2, 5, 7, 8 and 9, the store 18; the
 * first load is instruction 13 of a kernel that begins on a multiple of 256 B. All loads are issued before the first is
 * used, as in conv2d.
 * Differs: registers (30) and what a thread on the border does (13 instructions) are conv2d's and assumed. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/micro/suite.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, REGISTERS = 30, GUARD = 13, A = 0, B = 1, LOADS = 6 };

struct stencil_params {
    int64_t n, compute_ns;
};

struct stencil {
    uint64_t n, across; /* rows and columns; blocks in x and in y */
    int64_t compute_ns;
    struct program_alloc allocs[2];
};

static const struct param stencil_params[] = {
    PARAM_INT_ROW(stencil_params, n, "", 1, 1 << 18, 4096, "rows and columns"),
    PARAM_NS_AUTO_ROW(stencil_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *stencil_open(const void *params, struct err *err)
{
    const struct stencil_params *p = params;
    struct stencil *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->n = (uint64_t)p->n;
    s->across = (s->n + BLOCK_X - 1) / BLOCK_X;
    s->compute_ns = p->compute_ns;
    s->allocs[A] = (struct program_alloc){.name = "a", .bytes = s->n * s->n * 4, .host = true};
    s->allocs[B] = (struct program_alloc){.name = "b", .bytes = s->n * s->n * 4};
    program_place(s->allocs, 2, 0, 0);
    return s;
}

static const struct program_alloc *stencil_allocs(const void *state, size_t *n)
{
    *n = 2;
    return ((const struct stencil *)state)->allocs;
}

static uint32_t stencil_launches(const void *state)
{
    (void)state;
    return 1;
}

static void stencil_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct stencil *s = state;
    (void)launch;
    *out = (struct program_launch){.kernel = "stencil",
                                   .blocks = s->across * ((s->n + BLOCK_Y - 1) / BLOCK_Y),
                                   .threads = BLOCK_X * BLOCK_Y,
                                   .registers = REGISTERS};
}

static void add_points(const struct stencil *s, uint64_t i, uint64_t x, uint32_t active, struct program_body *body)
{
    /* down and across: 1 is the point itself */
    static const struct {
        uint16_t down, across, before, use;
    } load[LOADS] = {{0, 1, 13, 10}, {0, 0, 1, 8}, {2, 1, 2, 5}, {1, 0, 1, 3}, {1, 2, 0, 2}, {1, 1, 0, 1}};
    for (unsigned k = 0; k < LOADS; k++) {
        uint64_t row = i + load[k].down - 1, column = x + load[k].across - 1; /* below 0 in a lane that is masked */
        struct program_access *a = program_load(body, s->allocs, A, (row * s->n + column) * 4, 4);
        a->active = active;
        a->before = load[k].before;
        a->use = load[k].use;
    }
    struct program_access *store = program_store(body, s->allocs, B, (i * s->n + x) * 4, 4);
    store->active = active;
    store->before = 8;
    body->after = 1;
    body->last = true;
}

static int stencil_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                        struct err *err)
{
    const struct stencil *s = run;
    (void)launch;
    (void)err;
    uint64_t block = warp / BLOCK_Y;
    uint64_t x = block % s->across * BLOCK_X, i = block / s->across * BLOCK_Y + warp % BLOCK_Y;
    uint32_t active = x + 1 < s->n ? program_first_lanes(s->n - 1 - x) : 0; /* j < n-1 */
    if (x == 0)
        active &= ~1u;
    if (active == 0 || i == 0 || i + 1 >= s->n)
        return program_no_trip(index, GUARD, body);
    if (index > 0)
        return 0;
    add_points(s, i, x, active, body);
    return 1;
}

static const struct program_ops stencil_ops = {
    .allocs = stencil_allocs, .launches = stencil_launches, .launch = stencil_launch, .body = stencil_body};

static int stencil_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&stencil_ops, state, ((const struct stencil *)state)->compute_ns};
    return 0;
}

const struct workload_type workload_stencil = {
    .name = "stencil",
    .summary = "six points of a 3x3 neighbourhood, one array into another, one kernel",
    .source = "recorded: H200, driver 580.159.04, CUDA 13.0, 2026-11",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = stencil_params,
    .params_size = sizeof(struct stencil_params),
    .open = stencil_open,
    .close = free,
    .program = stencil_program,
};
