/* stencil: six points of the 3x3 neighbourhood in an array of n x n floats into another, one kernel.
 *
 * The kernel of the H200's recording (fixtures/traces/accesses_h200.txt.xz: conv, n 512), whose loads are those six, in
 * that order; replay/derive/recorded_kernels_test.c compares it, access by access. The CPU writes a and never touches
 * b. On the border threads do nothing.
 * Instructions between accesses: the distances of their pcs, 16 B each: loads 0, 2, 5, 7, 8 and 9, the store 18; the
 * first load is instruction 13 of a kernel that begins on a multiple of 256 B. All loads are issued before the first is
 * used, as in conv2d.
 * Differs: registers (30) and what a thread on the border does (13 instructions) are conv2d's and assumed. */
#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { REGISTERS = 30, GUARD = 13, A = 0, B = 1 };

struct stencil {
    struct layout layout;
    int64_t n; /* rows and columns */
    int64_t launches;
};

static const struct param stencil_keys[] = {
    PARAM_INT_ROW(stencil, n, "", 1, 1 << 18, 4096, "rows and columns"),
    PARAM_INT_ROW(stencil, launches, "", 1, 1000000, 1, "how often the kernel runs"),
    LAYOUT_COMPUTE_NS("time of a warp whose data is all at hand"),
    {0}};

/* Points (i, j) to (i, j + 31). */
static int stencil(struct emit *e)
{
    int64_t n = ((const struct stencil *)e->state)->n, c;
    if (!emit_points(e, n, n, 1, 1, 1, 1, &c))
        return emit_idle(e, GUARD);
    emit_load(e, A, c - n, 13, 10);
    emit_load(e, A, c - n - 1, 1, 8);
    emit_load(e, A, c + n, 2, 5);
    emit_load(e, A, c - 1, 1, 3);
    emit_load(e, A, c + 1, 0, 2);
    emit_load(e, A, c, 0, 1);
    emit_store(e, B, c, 8);
    return emit_end(e, 1);
}

static int stencil_init(struct stencil *s, struct err *err)
{
    (void)err;
    LAYOUT_ARRAYS(&s->layout, {"+a", s->n * s->n * 4}, {"b", s->n * s->n * 4});
    layout_straight(&s->layout, stencil, "stencil", layout_blocks(s->n, EMIT_X) * layout_blocks(s->n, EMIT_Y),
                    EMIT_X * EMIT_Y, REGISTERS, 0);
    s->layout.launches = (uint32_t)s->launches;
    return 0;
}

WORKLOAD_OF_LAYOUT(stencil, workload_stencil, "stencil",
                   "six points of a 3x3 neighbourhood, one array into another, one kernel",
                   "recorded: H200, driver 580.159.04, CUDA 13.0, 2026-11", layout_open, free);
