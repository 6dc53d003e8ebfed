/* fdtd2d: the finite-difference kernels of PolyBench-ACC, three N x M arrays of floats, three kernels a time step.
 *
 *     step 1: if (0 < i < N, j < M)   ey[i][j] -= 0.5 (hz[i][j] - hz[i-1][j])
 *     step 2: if (i < N, 0 < j < M)   ex[i][j] -= 0.5 (hz[i][j] - hz[i][j-1])
 *     step 3: if (i < N-1, j < M-1)   hz[i][j] -= 0.7 (ex[i][j+1] - ex[i][j] + ey[i+1][j] - ey[i][j])
 *
 * The CPU writes all arrays first. Blocks of 32 x 8 threads: a warp is 32 points of one row. A thread issues all its
 * loads, then uses the first; the store comes last. N = M = sqrt(bytes / 12) down to a multiple of 32, or `n` and `m`.
 * Instructions, order, registers: nvcc 13.0 -O3, sm_90, fixtures/cuda/kernels.cu.
 * Source: PolyBench-ACC, CUDA/stencils/FDTD-2D/fdtd2d.cu, written anew in fixtures/cuda/kernels.cu.
 * Differs: ex and ey lack the benchmark's extra column and row; row 0 of ey is not set from _fict_; three time steps by
 * default (the benchmark's default is 500). */
#include <math.h>

#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { GUARD = 19, EX = 0, EY = 1, HZ = 2 };

struct fdtd2d {
    struct layout layout;
    int64_t bytes, n, m, steps; /* n: rows, m: columns */
};

static const struct param fdtd2d_keys[] = {
    PARAM_BYTES_ROW(fdtd2d, bytes, 12 * EMIT_X * EMIT_X, 0x1p42, 0x1p33, "all three arrays together"),
    PARAM_INT_ROW(fdtd2d, n, "", 0, 1 << 20, 0, "rows; 0: a multiple of 32 that `bytes` holds"),
    PARAM_INT_ROW(fdtd2d, m, "", 0, 1 << 20, 0, "columns; 0: as many as rows"),
    PARAM_INT_ROW(fdtd2d, steps, "", 1, 100000, 3, "time steps"),
    LAYOUT_COMPUTE_NS("time of a warp whose data is all at hand"),
    {0}};

static int fdtd_step1(struct emit *e)
{
    const struct fdtd2d *f = e->state;
    int64_t m = f->m, c;
    if (!emit_points(e, f->n, m, 1, 0, 0, 0, &c))
        return emit_idle(e, GUARD);
    emit_load(e, HZ, c, 41, 3);
    emit_load(e, HZ, c - m, 0, 2);
    emit_load(e, EY, c, 0, 2);
    emit_store(e, EY, c, 2);
    return emit_end(e, 1);
}

static int fdtd_step2(struct emit *e)
{
    const struct fdtd2d *f = e->state;
    int64_t c;
    if (!emit_points(e, f->n, f->m, 0, 1, 0, 0, &c))
        return emit_idle(e, GUARD);
    emit_load(e, HZ, c - 1, 32, 3);
    emit_load(e, HZ, c, 0, 2);
    emit_load(e, EX, c, 0, 2);
    emit_store(e, EX, c, 2);
    return emit_end(e, 1);
}

static int fdtd_step3(struct emit *e)
{
    const struct fdtd2d *f = e->state;
    int64_t m = f->m, c;
    if (!emit_points(e, f->n, m, 0, 0, 1, 1, &c))
        return emit_idle(e, GUARD);
    emit_load(e, EX, c, 36, 8);
    emit_load(e, EX, c + 1, 0, 7);
    emit_load(e, EY, c + m, 2, 5);
    emit_load(e, EY, c, 1, 4);
    emit_load(e, HZ, c, 0, 4);
    emit_store(e, HZ, c, 4);
    return emit_end(e, 1);
}

static int fdtd2d_init(struct fdtd2d *f, struct err *err)
{
    (void)err;
    f->n = f->n ? f->n : (int64_t)sqrt((double)f->bytes / 12) / EMIT_X * EMIT_X;
    f->m = f->m ? f->m : f->n;
    uint64_t blocks = layout_blocks(f->m, EMIT_X) * layout_blocks(f->n, EMIT_Y);
    layout_array(&f->layout, "+ex|ey|hz", f->n * f->m * 4);
    layout_straight(&f->layout, fdtd_step1, "fdtd_step1", blocks, EMIT_X * EMIT_Y, 14, 0);
    layout_straight(&f->layout, fdtd_step2, "fdtd_step2", blocks, EMIT_X * EMIT_Y, 12, 0);
    layout_straight(&f->layout, fdtd_step3, "fdtd_step3", blocks, EMIT_X * EMIT_Y, 16, 0);
    f->layout.alike = true;
    f->layout.launches = (uint32_t)(3 * f->steps);
    return 0;
}

WORKLOAD_OF_LAYOUT(fdtd2d, workload_fdtd2d, "fdtd2d",
                   "finite-difference time domain, three arrays, three kernels a step",
                   "PolyBench-ACC CUDA/stencils/FDTD-2D", layout_open, free, .repeats = {"n", "m", EMIT_Y});
