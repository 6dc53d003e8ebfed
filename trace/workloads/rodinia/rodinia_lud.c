/* rodinia-lud: LU decomposition of an n x n matrix of floats in place, in tiles of 32 x 32.
 *
 * Launches for o = 0, 32, .. `steps` times: diagonal, perimeter, internal; then a last diagonal. T = (n - o)/32 - 1
 * tiles are left beside the diagonal one: perimeter is T blocks of 2 warps, internal T x T of 32, a warp a row.
 * Worked example: n = 96: diagonal, perimeter of 2 blocks, internal of 4; o = 32: 1 and 1 blocks; o = 64: a diagonal.
 * Uses: perimeter and diagonal store each value to shared memory before the next load; internal's first load is used
 * 6, its second 4 instructions later. Instructions otherwise assumed: three for each multiplication (two loads of
 * shared memory, the multiply-add), eight around a diagonal step with its two barriers, which hold nobody as the block
 * is one warp. Source: Rodinia 3.1, cuda/lud/cuda/lud_kernel.cu; LUD_ITERS = 8, n = 2048 (-s 2048): the F3FS artifact.
 * Differs: steps=0 decomposes the whole matrix, as Rodinia itself does. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { TILE = 32, HALF = 16, M = 0, DIAGONAL = 0, PERIMETER = 1, INTERNAL = 2 };
/* Instructions for arithmetic of a launch: sum over i < 31 of i and i + 1, of i < 32. */
enum { DIAGONAL_STEPS = 961 * 3 + 31 * 8, PERIMETER_STEPS = 496 * 3, COLUMN_DIVISIONS = 32, INTERNAL_STEPS = 96 };

struct lud {
    struct layout layout;
    int64_t n, steps;
};

static const struct param lud_keys[] = {
    PARAM_INT_ROW(lud, n, "", TILE, 1 << 17, 2048, "rows and columns, a multiple of 32"),
    PARAM_INT_ROW(lud, steps, "", 0, 1 << 12, 8, "tiles of the diagonal to eliminate; 0: all"),
    RODINIA_KEYS("time of a warp's loads or stores, data at hand")};

/* Rows `from` to `to` - 1 of the tile whose corner is (row, column): loads; stores of rows `from` to 31. */
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

/* Body 0: the loads and the arithmetic, of a tile of the row by warp 0, of the column by warp 1; body 1: the stores. */
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
    int64_t w = e->at.warp, block = e->at.block;
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
    uint64_t tiles = ((const struct lud *)state)->n / TILE - launch / 3 - 1;
    if (launch % 3 != DIAGONAL)
        out->blocks = launch % 3 == PERIMETER ? tiles : tiles * tiles;
}

static int lud_init(struct lud *s, struct err *err)
{
    int64_t most = s->n / TILE - 1;
    if (s->n % TILE)
        return err_set(err, "n is %lld; expected a multiple of %d", (long long)s->n, TILE);
    layout_array(&s->layout, "+m", s->n * s->n * 4);
    layout_straight(&s->layout, diagonal, "lud_diagonal", 1, TILE, 64, 4096);
    layout_kernel(&s->layout, perimeter, "lud_perimeter", 0, 2 * TILE, 64, 12288);
    layout_straight(&s->layout, internal, "lud_internal", 0, TILE * TILE, 34, 8192);
    s->layout.shape = shape;
    s->layout.launches = 3 * (uint32_t)(s->steps && s->steps < most ? s->steps : most) + 1;
    return 0;
}

RODINIA(lud, "lud", "lud", "LU decomposition in tiles, as the F3FS artifact runs it", free);
