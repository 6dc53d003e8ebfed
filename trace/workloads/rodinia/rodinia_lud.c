/* rodinia-lud: LU decomposition of an n x n matrix of floats in place, in tiles of 32 x 32.
 *
 * Launches for o = 0, 32, .. `steps` times: diagonal, perimeter, internal; then a last diagonal. T = (n - o)/32 - 1
 * tiles are left beside the diagonal one. A tile's row is a line; M[r, c] is element r n + c; lane l:
 *     diagonal, 1 warp: M[o+i, o+l], i = 0 to 31; barrier; 31 steps; stores of rows 1 to 31
 *     perimeter, T blocks of 2 warps, c = o + 32 (b+1):
 *         warp 0: M[o+i, o+l], i = 0 to 15; M[o+i, c+l], i = 0 to 31
 *         warp 1: M[o+i, o+l], i = 16 to 31; M[c+i, o+l], i = 0 to 31
 *         barrier; ~500 multiplications; barrier; stores: warp 0 M[o+i, c+l], i = 1 to 31, warp 1 M[c+i, o+l], i = 0
 *             to 31
 *     internal, T x T blocks of 32 warps, warp w is row w, c = o + 32 (x+1), r = o + 32 (y+1):
 *         M[o+w, c+l]; M[r+w, o+l]; barrier; 32 multiplications; M[r+w, c+l]; store of the same
 * Worked example: n = 96: diagonal, perimeter of 2 blocks, internal of 4; o = 32: 1 and 1 blocks; o = 64: a diagonal.
 * Uses: perimeter and diagonal store each value to shared memory before the next load; internal's first load is used
 * 6, its second 4 instructions later. Instructions otherwise: two before an access; three for each multiplication
 * (two loads of shared memory, the multiply-add), eight around a diagonal step with its two barriers, which hold
 * nobody as the block is one warp: assumed.
 * Source: Rodinia 3.1, cuda/lud/cuda/lud_kernel.cu; LUD_ITERS = 8, n = 2048 (-s 2048): the F3FS artifact; registers,
 * shared memory and uses: PTX of nvcc 13.0 -O3 for compute capability 7.5.
 * Differs: steps=0 decomposes the whole matrix, as Rodinia itself does. */
#include <stdlib.h>

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { TILE = 32, HALF = 16, M = 0, DIAGONAL = 0, PERIMETER = 1, INTERNAL = 2 };
/* Instructions for arithmetic of a launch: sum over i < 31 of i and i + 1, of i < 32. */
enum { DIAGONAL_STEPS = 961 * 3 + 31 * 8, PERIMETER_STEPS = 496 * 3, COLUMN_DIVISIONS = 32, INTERNAL_STEPS = 96 };

struct lud_params {
    int64_t n, steps, order, compute_ns;
};

struct lud {
    struct plan plan;
    int64_t n;
};

static const struct param lud_params[] = {
    PARAM_INT_ROW(lud_params, n, "", TILE, 1 << 17, 2048, "rows and columns, a multiple of 32"),
    PARAM_INT_ROW(lud_params, steps, "", 0, 1 << 12, 8, "tiles of the diagonal to eliminate; 0: all"),
    RODINIA_ORDER_ROW(lud_params),
    PARAM_NS_AUTO_ROW(lud_params, compute_ns, 0, 1e9, "time of a warp's loads or stores, data at hand"),
    {0}};

/* Rows `from` to `to` - 1 of the tile whose corner is (row, column). */
static void rows(const struct emit *e, int64_t row, int64_t column, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        emit_load(e, M, (row + i) * ((const struct lud *)e->state)->n + column, 2, 1);
}

static void store_rows(const struct emit *e, int64_t row, int64_t column, int64_t from, unsigned before)
{
    for (int64_t i = from; i < TILE; i++)
        emit_store(e, M, (row + i) * ((const struct lud *)e->state)->n + column, i == from ? before : 2);
}

static int diagonal(struct emit *e)
{
    int64_t o = TILE * (int64_t)(e->launch / 3);
    rows(e, o, o, 0, TILE);
    emit_hoist(e, 0);
    emit_barrier(e, 1);
    store_rows(e, o, o, 1, DIAGONAL_STEPS);
    return emit_end(e, 1);
}

/* Body 0: the loads and the arithmetic; body 1: the stores. */
static int perimeter(struct emit *e)
{
    int64_t o = TILE * (int64_t)(e->launch / 3), c = o + TILE * ((int64_t)e->at.block + 1);
    int64_t row = e->at.warp ? c : o, column = e->at.warp ? o : c;
    if (e->index > 1)
        return 0;
    if (e->index == 1) {
        store_rows(e, row, column, e->at.warp ? 0 : 1, 2);
        return emit_end(e, 1);
    }
    rows(e, o, o, e->at.warp ? HALF : 0, e->at.warp ? TILE : HALF);
    rows(e, row, column, 0, TILE);
    emit_hoist(e, 0);
    emit_barrier(e, 1);
    emit_barrier(e, PERIMETER_STEPS + (e->at.warp ? COLUMN_DIVISIONS : 0));
    return emit_end(e, 1);
}

static int internal(struct emit *e)
{
    int64_t n = ((const struct lud *)e->state)->n, o = TILE * (int64_t)(e->launch / 3), tiles = (n - o) / TILE - 1;
    int64_t w = e->at.warp, block = (int64_t)e->at.block;
    int64_t c = o + TILE * (block % tiles + 1), r = o + TILE * (block / tiles + 1);
    emit_load(e, M, (o + w) * n + c, 2, 6);
    emit_load(e, M, (r + w) * n + o, 2, 4);
    emit_barrier(e, 5);
    emit_load(e, M, (r + w) * n + c, INTERNAL_STEPS, 1);
    emit_store(e, M, (r + w) * n + c, 1);
    return emit_end(e, 1);
}

/* The tiles that are left. */
static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    uint64_t tiles = (uint64_t)((const struct lud *)state)->n / TILE - launch / 3 - 1;
    if (launch % 3 != DIAGONAL)
        out->blocks = launch % 3 == PERIMETER ? tiles : tiles * tiles;
}

static void *lud_open(const void *params, struct err *err)
{
    const struct lud_params *p = params;
    if (p->n % TILE) {
        (void)err_set(err, "n is %lld; expected a multiple of %d", (long long)p->n, TILE);
        return NULL;
    }
    struct lud *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    uint32_t most = (uint32_t)(p->n / TILE - 1), steps = p->steps && p->steps < most ? (uint32_t)p->steps : most;
    s->n = p->n;
    plan_input(&s->plan, "m", (uint64_t)(p->n * p->n) * 4);
    plan_straight(&s->plan, diagonal, "lud_diagonal", 1, TILE, 64, 4096);
    plan_kernel(&s->plan, perimeter, "lud_perimeter", 0, 2 * TILE, 64, 12288);
    plan_straight(&s->plan, internal, "lud_internal", 0, TILE * TILE, 34, 8192);
    s->plan.shape = shape;
    s->plan.launches = 3 * steps + 1;
    return s;
}

const struct workload_type workload_rodinia_lud = {
    .name = "rodinia-lud",
    .summary = "LU decomposition in tiles, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/lud",
    WORKLOAD_WITH_KEYS(lud),
    .close = free,
    .program = plan_program,
};
