/* rodinia-pathfinder: cheapest way down a grid, Rodinia's dynamic programming over rows, `height` rows in a launch.
 *
 *     launch t = 0, height, 2 height, .. < rows - 1; it = min(height, rows - 1 - t)
 *     x = (256 - 2 it) block - height + thread
 *     if (0 <= x < cols) prev = source[x]; barrier
 *     for (i = 0; i < it; i++) {
 *         if (0 <= x < cols && i + 1 <= thread <= 254 - i) result = wall[t + i][x] + least of three neighbours of prev
 *         barrier; if (i == it - 1) break; prev = result; barrier
 *     }
 *     if (computed in the last i) destination[x] = result
 *
 * Arrays, from 0xC0000000 on: result0, result1 (cols ints), wall ((rows - 1) x cols ints); result0 and wall are copied
 * in; each launch reads one result and writes the other. Blocks of 256 threads, as many as cover cols at 256 - 2
 * height: where it < height some at the right end have nothing to do but barriers.
 * Worked example, cols = 1000, rows = 9, height = 2: 4 launches of 4 blocks; block 0 stands at x = -2 to 253 and stores
 * x = 0 to 251, block 1 stores 252 to 503.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers, shared memory: the same compiler.
 * Each load stands alone between two barriers, so both orders are one.
 * Source: Rodinia 3.1, cuda/pathfinder/pathfinder.cu (dynproc_kernel, calc_path), arguments as gupta-2025-f3fs runs it
 * (the paper's table prints cols=1000000, height=4).
 * Differs: nothing known. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"

enum { BLOCK = 256, WARPS = BLOCK / PROGRAM_LANES, REGISTERS = 18, SHARED = 2 * BLOCK * 4, WALL = 2 };

struct pathfinder_params {
    int64_t cols, rows, height, order, compute_ns;
};

struct pathfinder {
    struct pathfinder_params p;
    struct program_alloc allocs[3];
};

static const struct param pathfinder_params[] = {
    PARAM_INT_ROW(pathfinder_params, cols, "", 1, 1 << 30, 100000, "columns of the grid"),
    PARAM_INT_ROW(pathfinder_params, rows, "", 2, 1 << 20, 100, "rows; rows x cols below 2^31"),
    PARAM_INT_ROW(pathfinder_params, height, "rows", 1, 127, 2, "of a launch"),
    RODINIA_ORDER_ROW(pathfinder_params),
    PARAM_NS_AUTO_ROW(pathfinder_params, compute_ns, 0, 1e9, "time of a step of a warp whose data is all at hand"),
    {0}};

static void *pathfinder_open(const void *params, struct err *err)
{
    const struct pathfinder_params *p = params;
    uint64_t row = (uint64_t)p->cols * 4;
    if (p->rows * p->cols > INT32_MAX) {
        err_set(err, "rodinia-pathfinder: %lld x %lld elements; the kernel counts them in an int", (long long)p->rows,
                (long long)p->cols);
        return NULL;
    }
    struct pathfinder *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->allocs[0] = (struct program_alloc){.name = "result0", .bytes = row, .host = true};
    s->allocs[1] = (struct program_alloc){.name = "result1", .bytes = row};
    s->allocs[WALL] = (struct program_alloc){.name = "wall", .bytes = row * (uint64_t)(p->rows - 1), .host = true};
    program_place(s->allocs, 3, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *pathfinder_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct pathfinder *)state)->allocs;
}

static uint32_t pathfinder_launches(const void *state)
{
    const struct pathfinder *s = state;
    return (uint32_t)((s->p.rows - 2) / s->p.height + 1);
}

static void pathfinder_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct pathfinder *s = state;
    int64_t stored = BLOCK - 2 * s->p.height;
    (void)launch;
    *out = (struct program_launch){.kernel = "dynproc_kernel",
                                   .blocks = (uint64_t)((s->p.cols + stored - 1) / stored),
                                   .threads = BLOCK,
                                   .registers = REGISTERS,
                                   .shared = SHARED};
}

/* Lanes of a warp whose thread lies in first .. last and whose x, of lane 0, in the grid. */
static uint32_t lanes_within(const struct pathfinder *s, int64_t thread, int64_t x, int64_t first, int64_t last)
{
    int64_t low = first - thread > -x ? first - thread : -x;
    int64_t high = last - thread < s->p.cols - 1 - x ? last - thread : s->p.cols - 1 - x;
    low = low < 0 ? 0 : low;
    high = high < PROGRAM_LANES - 1 ? high : PROGRAM_LANES - 1;
    return low > high ? 0 : program_first_lanes((uint64_t)high + 1) & ~program_first_lanes((uint64_t)low);
}

static void add_barrier(struct program_body *body, uint16_t before)
{
    program_barrier(body);
    body->access[body->count - 1].before = before;
}

/* What comes before the loop. */
static void add_source(const struct pathfinder *s, unsigned source, int64_t x, uint32_t active,
                       struct program_body *body)
{
    if (active) {
        struct program_access *load = program_load(body, s->allocs, source, (uint64_t)x * 4, 4);
        load->active = active;
        load->before = 18;
    }
    add_barrier(body, active ? 1 : 15);
    body->after = 31;
}

/* Step i, a row of the wall at `element` (of lane 0). */
static void add_step(const struct pathfinder *s, uint64_t element, uint32_t active, bool last,
                     struct program_body *body)
{
    if (active) {
        struct program_access *load = program_load(body, s->allocs, WALL, element * 4, 4);
        load->active = active;
        load->before = 9 + 7; /* three of the seven from shared memory */
    }
    add_barrier(body, active ? 4 : 10);
    if (last)
        return;
    add_barrier(body, active ? 6 : 4);
    body->after = 5;
}

static int pathfinder_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                           struct err *err)
{
    const struct pathfinder *s = run;
    int64_t t = launch * s->p.height, left = s->p.rows - 1 - t, it = left < s->p.height ? left : s->p.height;
    int64_t thread = (int64_t)(warp % WARPS) * PROGRAM_LANES;
    int64_t x = (BLOCK - 2 * it) * (int64_t)(warp / WARPS) - s->p.height + thread, i = (int64_t)index - 1;
    (void)err;
    if (i == it)
        return 0;
    if (i < 0) {
        add_source(s, launch % 2, x, lanes_within(s, thread, x, 0, BLOCK - 1), body);
        return 1;
    }
    uint32_t active = lanes_within(s, thread, x, i + 1, BLOCK - 2 - i);
    add_step(s, (uint64_t)(s->p.cols * (t + i) + x), active, i + 1 == it, body);
    if (i + 1 < it)
        return 1;
    if (active) {
        struct program_access *store = program_store(body, s->allocs, 1 - launch % 2, (uint64_t)x * 4, 4);
        store->active = active;
        store->before = 9;
    }
    body->after = active ? 1 : 6;
    return 1;
}

static const struct program_ops pathfinder_ops = {
    .allocs = pathfinder_allocs, .launches = pathfinder_launches, .launch = pathfinder_launch, .body = pathfinder_body};

static int pathfinder_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&pathfinder_ops, state, ((const struct pathfinder *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_pathfinder = {
    .name = "rodinia-pathfinder",
    .summary = "cheapest way down a grid, a few rows in a launch",
    .source = "Rodinia 3.1 cuda/pathfinder",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = pathfinder_params,
    .params_size = sizeof(struct pathfinder_params),
    .open = pathfinder_open,
    .close = free,
    .program = pathfinder_program,
};
