/* conv2d: the 3x3 stencil of PolyBench-ACC, B = conv(A), N x M floats, one kernel.
 *
 * The CPU writes A and never touches B. Blocks of 32 x 8 threads: a warp is 32 points of one row. All nine loads are
 * issued, row by row, then the first is used; the store comes last. On the border threads do nothing. N = M =
 * sqrt(bytes / 8) down to a multiple of 32, or `n` and `m`.
 * Instructions, order, registers: nvcc 13.0 -O3, sm_90, fixtures/cuda/kernels.cu: the first load is instruction 36
 * (from 0), the first multiplication 55, the store 64.
 * Source: PolyBench-ACC, CUDA/stencils/2DCONV/2DConvolution.cu, written anew in fixtures/cuda/kernels.cu. */
#include <math.h>

#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { REGISTERS = 30, GUARD = 23, A = 0, B = 1 };

struct conv2d {
    struct layout layout;
    int64_t bytes, n, m; /* n: rows, m: columns */
};

static const struct param conv2d_keys[] = {
    PARAM_BYTES_ROW(conv2d, bytes, 8 * EMIT_X * EMIT_X, 0x1p42, 0x1p33, "both arrays together"),
    PARAM_INT_ROW(conv2d, n, "", 0, 1 << 20, 0, "rows; 0: a multiple of 32 that `bytes` holds"),
    PARAM_INT_ROW(conv2d, m, "", 0, 1 << 20, 0, "columns; 0: as many as rows"),
    LAYOUT_COMPUTE_NS("time of a warp whose data is all at hand"),
    {0}};

/* Points (i, j) to (i, j + 31). */
static int conv2d(struct emit *e)
{
    static const uint8_t before[9] = {36, 0, 1, 1, 3, 0, 0, 0, 0}, use[9] = {19, 19, 18, 17, 14, 14, 14, 14, 14};
    const struct conv2d *s = e->state;
    int64_t m = s->m, c;
    if (!emit_points(e, s->n, m, 1, 1, 1, 1, &c))
        return emit_idle(e, GUARD);
    for (int k = 0; k < 9; k++) /* column -1 of lane 0 is never accessed */
        emit_load(e, A, c + (k / 3 - 1) * m + k % 3 - 1, before[k], use[k]);
    emit_store(e, B, c, 14);
    return emit_end(e, 1);
}

static int conv2d_init(struct conv2d *c, struct err *err)
{
    (void)err;
    c->n = c->n ? c->n : (int64_t)sqrt((double)c->bytes / 8) / EMIT_X * EMIT_X;
    c->m = c->m ? c->m : c->n;
    LAYOUT_ARRAYS(&c->layout, {"+A", c->n * c->m * 4}, {"B", c->n * c->m * 4});
    layout_straight(&c->layout, conv2d, "conv2d", layout_blocks(c->m, EMIT_X) * layout_blocks(c->n, EMIT_Y),
                    EMIT_X * EMIT_Y, REGISTERS, 0);
    return 0;
}

WORKLOAD_OF_LAYOUT(conv2d, workload_conv2d, "conv2d", "3x3 stencil over one array into another, one kernel",
                   "PolyBench-ACC CUDA/stencils/2DCONV", layout_open, free, .repeats = {"n", "m", EMIT_Y});
