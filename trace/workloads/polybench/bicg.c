/* bicg: the two matrix-vector products of PolyBench-ACC's BiCG, s = A^T r and q = A p, N x N floats.
 *
 *     kernel 1, thread j: for (i = 0; i < N; i++) sum += A[i][j] r[i];  s[j] = sum
 *     kernel 2, thread i: for (j = 0; j < N; j++) sum += A[i][j] p[j];  q[i] = sum
 *
 * The CPU writes A, r and p and never touches s and q. Blocks of 256 threads, as many as cover N. The loads of `unroll`
 * trips are issued together (A and r, A and r, ...); trips left over come one by one; the store comes last. In kernel 1
 * a load of A is 128 B of a row, in kernel 2 a column of 32 rows; r and p are the same for all lanes. N = sqrt(bytes /
 * 4) down to a multiple of 1,024 (a row is whole pages), or `n`. kernel=1 or 2 runs one alone.
 * Instructions, order, registers: after nvcc 13.0 -O3, sm_90, fixtures/cuda/kernels.cu: a turn of four trips is 30
 * (kernel 1) and 23 (kernel 2) instructions; what comes before the loop, 40, is counted with the store.
 * Source: PolyBench-ACC, CUDA/linear-algebra/kernels/bicg/bicg.cu, written anew in fixtures/cuda/kernels.cu; four rows
 * at once and one store: measured: H200, driver 580.159.04, 2026-11.
 * Differs: the benchmark adds up in memory where its compiler cannot tell the arrays apart. */
#include <math.h>

#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { THREADS = 256, UNROLL_MOST = 16, ONCE = 43, GUARD = 10, A = 0, R = 1, S = 2, P = 3, Q = 4 };

struct bicg {
    struct layout layout;
    int64_t bytes, n, kernel, unroll;
};

static const struct param bicg_keys[] = {
    PARAM_BYTES_ROW(bicg, bytes, 1 << 22, 0x1p42, 0x1p33, "the matrix"),
    PARAM_INT_ROW(bicg, n, "", 0, 1 << 20, 0, "rows and columns; 0: a multiple of 1,024 that `bytes` holds"),
    PARAM_INT_ROW(bicg, kernel, "", 0, 2, 0, "1: s = A^T r alone; 2: q = A p alone; 0: both"),
    PARAM_INT_ROW(bicg, unroll, "", 1, UNROLL_MOST, 4, "trips whose loads are issued together"),
    LAYOUT_COMPUTE_NS("time of a turn of a warp's loop, its data at hand"),
    {0}};

/* A body for each part of the loop; then the store. Element [k][thread] of A, or [thread][k], lies `along` apart from
 * lane to lane and `down` from trip to trip; element k of the vector is the same for all. */
static int product(struct emit *e, bool first, int64_t along, int64_t down)
{
    const struct bicg *b = e->state;
    int64_t thread = (int64_t)e->at.thread;
    struct program_part part;
    struct program_loop loop = {.trips = (uint64_t)b->n, .active = e->active, .unroll = (uint32_t)b->unroll};
    if (program_loop_part(&loop, e->index, &part)) {
        for (uint32_t t = 0; t < part.trips; t++) {
            int64_t k = (int64_t)part.first + t;
            struct program_access *a = emit_load(e, A, k * down + thread * along, first ? 2 : 0, 0);
            emit_apart(a, along)->turn_stride = part.trips * down * 4;
            emit_same(emit_load(e, first ? R : P, k, 0, 0))->turn_stride = INT64_C(4) * part.trips;
        }
        e->body->turns = part.turns;
        return emit_end(e, part.trips + (first ? 10 : 11));
    }
    if (e->index > 0 && !program_loop_part(&loop, e->index - 1, &part))
        return 0;
    emit_store(e, first ? S : Q, thread, ONCE);
    e->body->last = true;
    return emit_end(e, 1);
}

static int kernel1(struct emit *e)
{
    return product(e, true, 1, ((const struct bicg *)e->state)->n);
}

static int kernel2(struct emit *e)
{
    return product(e, false, ((const struct bicg *)e->state)->n, 1);
}

static int bicg_init(struct bicg *b, struct err *err)
{
    (void)err;
    uint64_t n = b->n = b->n ? b->n : (int64_t)sqrt((double)b->bytes / 4) / 1024 * 1024;
    LAYOUT_ARRAYS(&b->layout, {"+A", n * n * 4}, {"+r", n * 4}, {"s", n * 4}, {"+p", n * 4}, {"q", n * 4});
    if (b->kernel != 2) {
        layout_kernel(&b->layout, kernel1, "bicg_kernel1", layout_blocks(n, THREADS), THREADS, 32, 0);
        layout_guard(&b->layout, n, GUARD);
    }
    if (b->kernel != 1) {
        layout_kernel(&b->layout, kernel2, "bicg_kernel2", layout_blocks(n, THREADS), THREADS, 25, 0);
        layout_guard(&b->layout, n, GUARD);
    }
    b->layout.launches = b->layout.kernels;
    return 0;
}

WORKLOAD_OF_LAYOUT(bicg, workload_bicg, "bicg", "matrix-vector products with a matrix and its transpose, two kernels",
                   "PolyBench-ACC CUDA/linear-algebra/kernels/bicg", layout_open, free);
