/* rodinia-srad-v2: Rodinia's speckle reduction with shared memory, rows x cols floats in tiles of 16 x 16, two kernels
 * an iteration.
 *
 * With K = cols, o = 16 K by + 16 bx, c = o + K ty + tx (tx, ty: thread in the tile):
 *     srad_cuda_1: J[o+tx-K]; J[o+16K+tx]; by first: J[16bx+tx], else by last: J[o+15K+tx]; barrier;
 *                  J[o+K ty-1]; J[o+K ty+16]; bx first: J[o+K ty], else bx last: J[o+K ty+15]; barrier;
 *                  J[c]; barrier; coefficient from shared memory; barrier; store C, E, W, S, N [c]
 *     srad_cuda_2: J[c]; barrier; C[o+16K+tx]; by last: C[o+15K+tx]; barrier;
 *                  C[o+K ty+16]; bx last: C[o+K ty+15]; barrier;
 *                  C[c]; barrier; N[c], S[c], W[c], E[c]; barrier; store J[c]
 *
 * What lies north and south is loaded by all 8 warps of a block; west and east 16 lanes load one element. At the border
 * the kernel reads outside its array (row -1, row rows, element -1), then again inside: so do we. Arrays, from
 * 0xC0000000 on: J, C, E, W, S, N (rows x cols floats); J is copied in (and again before each iteration).
 * Worked example, 64 x 64: block 0, warp 0: north: bytes -256 to -193 of J, south: from 16 x 256 on, then as by = 0
 * bytes 0 to 63; west: bytes -4 and 252.
 * Defaults: 2048 x 2048, two iterations, as gupta-2025-f3fs runs it.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers, shared memory: the same compiler.
 * Its branches for the edges of a tile: as a warp of rows within it takes them. order=hoisted: the loads between two
 * barriers or branches, then their uses.
 * Source: Rodinia 3.1, cuda/srad/srad_v2/srad.cu and srad_kernel.cu (srad_cuda_1, srad_cuda_2).
 * Differs: copies between iterations are not made. */
#include <stdlib.h>

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { TILE = 16, THREADS = TILE * TILE, J = 0, C, E, W, S, N };
enum { COEFFICIENT = 89, EDGES = 18 }; /* instructions in shared memory */

struct sradv2_params {
    int64_t rows, cols, iterations, order, compute_ns;
};

struct sradv2 {
    struct plan plan;
    struct sradv2_params p;
    int64_t down, across; /* tiles */
};

static const struct param sradv2_params[] = {
    PARAM_INT_ROW(sradv2_params, rows, "", TILE, 1 << 26, 2048, "a multiple of 16; rows x cols below 2^31"),
    PARAM_INT_ROW(sradv2_params, cols, "", TILE, 1 << 26, 2048, "a multiple of 16"),
    PARAM_INT_ROW(sradv2_params, iterations, "", 1, 1 << 20, 2, "of two launches each"),
    RODINIA_ORDER_ROW(sradv2_params),
    PARAM_NS_AUTO_ROW(sradv2_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

/* Where a warp stands. */
struct place {
    int64_t bx, by, o; /* tile, its first element */
    int64_t row;       /* element of the tile's first column in the row of lane 0 */
    int64_t k;         /* columns */
};

static struct place place_of(const struct emit *e)
{
    const struct sradv2 *s = e->state;
    int64_t block = (int64_t)e->at.block;
    struct place at = {.bx = block % s->across, .by = block / s->across, .k = s->p.cols};
    at.o = TILE * at.k * at.by + TILE * at.bx;
    at.row = at.o + at.k * (e->at.warp * 2);
    return at;
}

/* 16 elements side by side, twice; one of each row; one for each lane. */
static void row(const struct emit *e, unsigned array, int64_t element, unsigned before, unsigned use)
{
    emit_tile(e, emit_load(e, array, element, before, use), TILE, 0, 1);
}

static void column(const struct emit *e, unsigned array, int64_t element, const struct place *at, unsigned before,
                   unsigned use)
{
    emit_tile(e, emit_load(e, array, element, before, use), TILE, at->k, 0);
}

static void cells(const struct emit *e, unsigned array, const struct place *at, unsigned before, unsigned use)
{
    emit_tile(e, emit_load(e, array, at->row, before, use), TILE, at->k, 1);
}

static void store(const struct emit *e, unsigned array, const struct place *at, unsigned before)
{
    emit_tile(e, emit_store(e, array, at->row, before), TILE, at->k, 1);
}

/* Body 0: the loads; body 1: the stores. */
static int srad_cuda_1(struct emit *e)
{
    const struct sradv2 *s = e->state;
    const struct place at = place_of(e);
    bool upper = at.by == 0, lower = at.by == s->down - 1; /* upper goes before lower, as in the source */
    bool left = at.bx == 0, right = at.bx == s->across - 1;
    if (e->index == 1) {
        emit_barrier(e, COEFFICIENT);
        store(e, C, &at, 4);
        store(e, E, &at, 2);
        store(e, W, &at, 2);
        store(e, S, &at, 2);
        store(e, N, &at, 2);
        return emit_end(e, 1);
    }
    if (e->index > 1)
        return 0;
    row(e, J, at.o - at.k, 16, 6);
    row(e, J, at.o + TILE * at.k, 8, 4);
    emit_hoist(e, 0);
    if (upper || lower)
        row(e, J, upper ? at.o : at.o + (TILE - 1) * at.k, upper ? 9 : 14, 1);
    emit_barrier(e, upper ? 2 : lower ? 3 : 11);
    uint32_t first = e->body->count;
    column(e, J, at.row - 1, &at, 3, 4);
    column(e, J, at.row + TILE, &at, 4, 4);
    emit_hoist(e, first);
    if (left || right)
        column(e, J, left ? at.row : at.row + TILE - 1, &at, left ? 9 : 15, 1);
    emit_barrier(e, left ? 1 : right ? 2 : 10);
    cells(e, J, &at, 4, 4);
    emit_barrier(e, 4);
    return emit_end(e, 0);
}

static int srad_cuda_2(struct emit *e)
{
    const struct sradv2 *s = e->state;
    const struct place at = place_of(e);
    bool lower = at.by == s->down - 1, right = at.bx == s->across - 1;
    if (e->index == 1) {
        cells(e, N, &at, EDGES, 6);
        cells(e, S, &at, 2, 2);
        cells(e, W, &at, 5, 1);
        cells(e, E, &at, 3, 2);
        emit_hoist(e, 0);
        emit_barrier(e, 13);
        store(e, J, &at, 1);
        return emit_end(e, 1);
    }
    if (e->index > 1)
        return 0;
    cells(e, J, &at, 15, 6);
    emit_barrier(e, 6);
    row(e, C, at.o + TILE * at.k, 2, 4);
    if (lower)
        row(e, C, at.o + (TILE - 1) * at.k, 12, 1);
    emit_barrier(e, lower ? 1 : 8);
    column(e, C, at.row + TILE, &at, 2, 4);
    if (right)
        column(e, C, at.row + TILE - 1, &at, 13, 1);
    emit_barrier(e, right ? 1 : 8);
    cells(e, C, &at, 1, 4);
    emit_barrier(e, 4);
    return emit_end(e, 0);
}

static void *sradv2_open(const void *params, struct err *err)
{
    const struct sradv2_params *p = params;
    if (p->rows % TILE || p->cols % TILE || p->rows * p->cols > INT32_MAX) {
        err_set(err, "rodinia-srad-v2: %lld x %lld elements; expected multiples of 16, less than 2^31 in all",
                (long long)p->rows, (long long)p->cols);
        return NULL;
    }
    struct sradv2 *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->down = p->rows / TILE;
    s->across = p->cols / TILE;
    plan_input(&s->plan, "J", (uint64_t)(p->rows * p->cols) * 4);
    plan_arrays(&s->plan, "C|E|W|S|N", (uint64_t)(p->rows * p->cols) * 4);
    uint64_t blocks = (uint64_t)(s->down * s->across);
    plan_kernel(&s->plan, srad_cuda_1, "srad_cuda_1", blocks, THREADS, 22, 6 * THREADS * 4);
    plan_kernel(&s->plan, srad_cuda_2, "srad_cuda_2", blocks, THREADS, 26, 5 * THREADS * 4);
    s->plan.alike = true;
    s->plan.launches = 2 * (uint32_t)p->iterations;
    return s;
}

const struct workload_type workload_rodinia_sradv2 = {
    .name = "rodinia-srad-v2",
    .summary = "speckle reduction in tiles with shared memory, two kernels an iteration",
    .source = "Rodinia 3.1 cuda/srad/srad_v2",
    WORKLOAD_WITH_KEYS(sradv2),
    .close = free,
    .program = plan_program,
};
