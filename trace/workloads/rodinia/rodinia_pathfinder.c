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

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 256, WALL = 2 };

struct pathfinder_params {
    int64_t cols, rows, height, order, compute_ns;
};

struct pathfinder {
    struct plan plan;
    struct pathfinder_params p;
};

static const struct param pathfinder_params[] = {
    PARAM_INT_ROW(pathfinder_params, cols, "", 1, 1 << 30, 100000, "columns of the grid"),
    PARAM_INT_ROW(pathfinder_params, rows, "", 2, 1 << 20, 100, "rows; rows x cols below 2^31"),
    PARAM_INT_ROW(pathfinder_params, height, "rows", 1, 127, 2, "of a launch"),
    RODINIA_ORDER_ROW(pathfinder_params),
    PARAM_NS_AUTO_ROW(pathfinder_params, compute_ns, 0, 1e9, "time of a step of a warp whose data is all at hand"),
    {0}};

/* Lanes of a warp whose thread lies in first .. last and whose x, of lane 0, in the grid. */
static uint32_t lanes_within(const struct pathfinder *s, int64_t thread, int64_t x, int64_t first, int64_t last)
{
    int64_t low = first - thread > -x ? first - thread : -x;
    int64_t high = last - thread < s->p.cols - 1 - x ? last - thread : s->p.cols - 1 - x;
    low = low < 0 ? 0 : low;
    high = high < PROGRAM_LANES - 1 ? high : PROGRAM_LANES - 1;
    return low > high ? 0 : program_first_lanes((uint64_t)high + 1) & ~program_first_lanes((uint64_t)low);
}

/* Body 0: what comes before the loop; then a body for each step i. */
static int dynproc(struct emit *e)
{
    const struct pathfinder *s = e->state;
    int64_t t = e->launch * s->p.height, left = s->p.rows - 1 - t, it = left < s->p.height ? left : s->p.height;
    int64_t thread = e->at.warp * PROGRAM_LANES, i = (int64_t)e->index - 1;
    int64_t x = (THREADS - 2 * it) * (int64_t)e->at.block - s->p.height + thread;
    unsigned source = e->launch % 2, destination = 1 - source;
    if (i == it)
        return 0;
    if (i < 0) {
        e->active = lanes_within(s, thread, x, 0, THREADS - 1);
        if (e->active)
            emit_load(e, source, x, 18, 1);
        emit_barrier(e, e->active ? 1 : 15);
        return emit_end(e, 31);
    }
    e->active = lanes_within(s, thread, x, i + 1, THREADS - 2 - i);
    if (e->active)
        emit_load(e, WALL, s->p.cols * (t + i) + x, 9 + 7, 1); /* three of the seven from shared memory */
    emit_barrier(e, e->active ? 4 : 10);
    if (i + 1 < it) {
        emit_barrier(e, e->active ? 6 : 4);
        return emit_end(e, 5);
    }
    if (e->active)
        emit_store(e, destination, x, 9);
    return emit_end(e, e->active ? 1 : 6);
}

static void *pathfinder_open(const void *params, struct err *err)
{
    const struct pathfinder_params *p = params;
    uint64_t row = (uint64_t)p->cols * 4;
    if (p->rows * p->cols > INT32_MAX) {
        err_set(err, "rodinia-pathfinder: %lld x %lld elements; the kernel counts them in an int", (long long)p->rows,
                (long long)p->cols);
        return NULL;
    }
    struct pathfinder *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    s->p = *p;
    plan_input(&s->plan, "result0", row);
    plan_array(&s->plan, "result1", row);
    plan_input(&s->plan, "wall", row * (uint64_t)(p->rows - 1));
    plan_kernel(&s->plan, dynproc, "dynproc_kernel", plan_blocks((uint64_t)p->cols, THREADS - 2 * (uint32_t)p->height),
                THREADS, 18, 2 * THREADS * 4);
    s->plan.launches = (uint32_t)((p->rows - 2) / p->height + 1);
    return s;
}

const struct workload_type workload_rodinia_pathfinder = {
    .name = "rodinia-pathfinder",
    .summary = "cheapest way down a grid, a few rows in a launch",
    .source = "Rodinia 3.1 cuda/pathfinder",
    WORKLOAD_WITH_KEYS(pathfinder),
    .close = free,
    .program = plan_program,
};
