/* fdtd2d: the finite-difference kernels of PolyBench-ACC, three arrays, three kernels a time step, blocks of 32 x 8.
 *
 * Step 1: ey[i][j] -= 0.5 (hz[i][j] - hz[i-1][j]); step 2: ex[i][j] -= 0.5 (hz[i][j] - hz[i][j-1]); step 3: hz[i][j] -=
 * 0.7 (ex[i][j+1] - ex[i][j] + ey[i+1][j] - ey[i][j]). All are N x N floats, written by the CPU first. An actor is a
 * block; what it stores it has loaded, so each has one step. N = sqrt(bytes / 12) down to a multiple of 32. Source:
 * PolyBench-ACC, CUDA/stencils/FDTD-2D/fdtd2d.cu. Differs: ex and ey lack the benchmark's extra column and row; three
 * time steps by default (the benchmark's default is 500); warps of a block go on together. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/workloads/polybench/suite.h"

/* The touches of a step stand in the order of the loads in the source: all warps issue their first load, then their
 * second. */
enum { BLOCK_X = 32, BLOCK_Y = 8, BLOCKS_PER_SM = 8, EX = 0, EY = 1, HZ = 2 };

struct fdtd2d_params {
    int64_t bytes, steps, compute_ns, compute_hz_ns;
};

struct fdtd2d {
    uint64_t n, steps;
    uint32_t compute_ns, compute_hz_ns;
    struct actor_alloc allocs[3];
    struct actor_writer writer;
};

static const struct param fdtd2d_params[] = {
    PARAM_BYTES_ROW(fdtd2d_params, bytes, 1 << 14, 0x1p38, 0x1p33, "all three arrays together"),
    PARAM_INT_ROW(fdtd2d_params, steps, "", 1, 100000, 3, "time steps"),
    PARAM_NS_ROW(fdtd2d_params, compute_ns, 0, 1e9, 3200, "time of a block of steps 1 and 2, all pages resident"),
    PARAM_NS_ROW(fdtd2d_params, compute_hz_ns, 0, 1e9, 4300, "time of a block of step 3, all pages resident"),
    {0}};

static void *fdtd2d_open(const void *params, struct err *err)
{
    const struct fdtd2d_params *p = params;
    struct fdtd2d *f = mem_zalloc(1, sizeof *f, err);
    if (!f)
        return NULL;
    uint64_t n = (uint64_t)sqrt((double)p->bytes / 12) / BLOCK_X * BLOCK_X;
    f->n = n;
    f->steps = (uint64_t)p->steps;
    f->compute_ns = (uint32_t)p->compute_ns;
    f->compute_hz_ns = (uint32_t)p->compute_hz_ns;

    f->allocs[EX] = (struct actor_alloc){.name = "ex", .bytes = n * n * 4, .host = true};
    f->allocs[EY] = (struct actor_alloc){.name = "ey", .bytes = n * n * 4, .host = true};
    f->allocs[HZ] = (struct actor_alloc){.name = "hz", .bytes = n * n * 4, .host = true};
    actor_space_place(f->allocs, 3);
    if (actor_space_init(f->allocs, 3, err)) {
        free(f);
        return NULL;
    }
    return f;
}

static const struct actor_alloc *fdtd2d_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct fdtd2d *)state)->allocs;
}

static uint32_t fdtd2d_launches(const void *state)
{
    return (uint32_t)(3 * ((const struct fdtd2d *)state)->steps);
}

static void fdtd2d_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    static const char *const names[3] = {"fdtd_step1", "fdtd_step2", "fdtd_step3"};
    const struct fdtd2d *f = state;
    *out = (struct actor_launch){names[launch % 3], (uint32_t)(f->n / BLOCK_X * (f->n / BLOCK_Y)), BLOCKS_PER_SM, 1,
                                 false};
}

/* Touch columns [left, right] of rows [top, bottom] of array `which`. */
static void touch_rows(const struct fdtd2d *f, int which, uint64_t top, uint64_t bottom, uint64_t left, uint64_t right,
                       struct actor_step *step)
{
    for (uint64_t row = top; row <= bottom; row++) {
        actor_touch(step, actor_page(&f->allocs[which], (row * f->n + left) * 4));
        actor_touch(step, actor_page(&f->allocs[which], (row * f->n + right) * 4));
    }
}

static int fdtd2d_step(void *run, uint32_t launch, uint32_t actor, uint32_t index, struct actor_step *step,
                       struct err *err)
{
    const struct fdtd2d *f = run;
    (void)err;
    if (index)
        return 0;
    uint32_t across = (uint32_t)(f->n / BLOCK_X);
    uint64_t x = actor % across * BLOCK_X, y = actor / across * BLOCK_Y;
    uint64_t right = x + BLOCK_X - 1, bottom = y + BLOCK_Y - 1;
    step->count = 0;
    step->writes = 0;
    step->compute_ns = f->compute_ns;
    if (launch % 3 == 0) {
        touch_rows(f, EY, y, bottom, x, right, step);
        touch_rows(f, HZ, y ? y - 1 : 0, bottom, x, right, step); /* row 0 is set from the source, without hz */
        step->accesses = 3 * BLOCK_Y;
    } else if (launch % 3 == 1) {
        touch_rows(f, EX, y, bottom, x ? x : 1, right, step);
        touch_rows(f, HZ, y, bottom, x ? x - 1 : 0, right, step);
        step->accesses = 2 * BLOCK_Y;
    } else {
        touch_rows(f, HZ, y, bottom, x, right, step);
        touch_rows(f, EX, y, bottom, x, right + 1 < f->n ? right + 1 : right, step);
        touch_rows(f, EY, y, bottom + 1 < f->n ? bottom + 1 : bottom, x, right, step);
        step->accesses = 4 * BLOCK_Y;
        step->compute_ns = f->compute_hz_ns;
    }
    return 1;
}

static const struct actor_ops fdtd2d_ops = {
    .allocs = fdtd2d_allocs, .launches = fdtd2d_launches, .launch = fdtd2d_launch, .step = fdtd2d_step};

static int fdtd2d_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct fdtd2d *f = state;
    return actor_writer_next(&f->writer, &fdtd2d_ops, f, records, cap, n, err);
}

static void fdtd2d_close(void *state)
{
    free(state);
}

const struct workload_type workload_fdtd2d = {
    .name = "fdtd2d",
    .summary = "finite-difference time domain, three arrays, three kernels a step",
    .source = "PolyBench-ACC CUDA/stencils/FDTD-2D",
    .produces = WORKLOAD_TOUCHES,
    .params = fdtd2d_params,
    .params_size = sizeof(struct fdtd2d_params),
    .open = fdtd2d_open,
    .close = fdtd2d_close,
    .ops = &fdtd2d_ops,
    .next = fdtd2d_next,
};
