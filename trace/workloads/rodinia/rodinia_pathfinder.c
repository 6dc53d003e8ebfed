/* rodinia-pathfinder: cheapest way down a grid, dynamic programming over rows, `height` rows in a launch.
 *
 * Launch t = 0, height, 2 height, .. < rows - 1 makes it = min(height, rows - 1 - t) steps; thread of block b stands at
 * x = (256 - 2 it) b - height + thread, loads one result, in each step i a row of wall if it is i + 1 within its block,
 * and stores the other result. Blocks are as many as cover cols at 256 - 2 height: where it < height some at the right
 * end do nothing but barriers. Each load stands alone between two barriers, so both orders are one.
 * Worked example, cols = 1000, rows = 9, height = 2: 4 launches of 4 blocks; block 0 stands at x = -2 to 253 and stores
 * x = 0 to 251, block 1 stores 252 to 503.
 * Source: Rodinia 3.1, cuda/pathfinder/pathfinder.cu (dynproc_kernel, calc_path); the paper's table prints
 * cols=1000000, height=4.
 * Differs: nothing known. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 256, WALL = 2 };

struct pathfinder {
    struct layout layout;
    int64_t cols, rows, height;
};

static const struct param pathfinder_keys[] = {
    PARAM_INT_ROW(pathfinder, cols, "", 1, 1 << 30, 100000, "columns of the grid"),
    PARAM_INT_ROW(pathfinder, rows, "", 2, 1 << 20, 100, "rows; rows x cols below 2^31"),
    PARAM_INT_ROW(pathfinder, height, "rows", 1, 127, 2, "of a launch"),
    RODINIA_KEYS("time of a step of a warp whose data is all at hand")};

/* Lanes whose thread lies in first .. last and whose x, of lane 0, in the grid. */
static uint32_t lanes_within(int64_t cols, int64_t thread, int64_t x, int64_t first, int64_t last)
{
    int64_t low = first - thread > -x ? first - thread : -x,
            end = last + 1 - thread < cols - x ? last + 1 - thread : cols - x;
    low = low < 0 ? 0 : low;
    return low < end ? program_first_lanes(end) & ~program_first_lanes(low) : 0;
}

/* Body 0: what comes before the loop; then a body for each step i. */
static int dynproc(struct emit *e)
{
    const struct pathfinder *s = e->state;
    int64_t t = e->launch * s->height, left = s->rows - 1 - t, it = left < s->height ? left : s->height;
    int64_t thread = (int64_t)e->at.warp * PROGRAM_LANES, i = (int64_t)e->index - 1;
    int64_t x = (THREADS - 2 * it) * (int64_t)e->at.block - s->height + thread;
    if (i == it)
        return 0;
    if (i < 0) {
        e->active = lanes_within(s->cols, thread, x, 0, THREADS - 1);
        if (e->active)
            emit_load(e, e->launch % 2, x, 18, 1);
        emit_barrier(e, e->active ? 1 : 15);
        return emit_end(e, 31);
    }
    e->active = lanes_within(s->cols, thread, x, i + 1, THREADS - 2 - i);
    if (e->active)
        emit_load(e, WALL, s->cols * (t + i) + x, 9 + 7, 1); /* three of the seven from shared memory */
    emit_barrier(e, e->active ? 4 : 10);
    if (i + 1 < it) {
        emit_barrier(e, e->active ? 6 : 4);
        return emit_end(e, 5);
    }
    if (e->active)
        emit_store(e, 1 - e->launch % 2, x, 9);
    return emit_end(e, e->active ? 1 : 6);
}

static int pathfinder_init(struct pathfinder *s, struct err *err)
{
    uint64_t row = s->cols * 4;
    if (s->rows * s->cols > INT32_MAX)
        return err_set(err, "rodinia-pathfinder: %lld x %lld elements; the kernel counts them in an int",
                       (long long)s->rows, (long long)s->cols);
    LAYOUT_ARRAYS(&s->layout, {"+result0", row}, {"result1", row}, {"+wall", row * (s->rows - 1)});
    layout_kernel(&s->layout, dynproc, "dynproc_kernel", layout_blocks(s->cols, THREADS - 2 * (uint32_t)s->height),
                  THREADS, 18, 2 * THREADS * 4);
    s->layout.launches = (uint32_t)((s->rows - 2) / s->height + 1);
    return 0;
}

RODINIA(pathfinder, "pathfinder", "pathfinder", "cheapest way down a grid, a few rows in a launch", free);
