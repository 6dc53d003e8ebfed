/* rodinia-srad-v2: speckle reduction with shared memory, rows x cols floats in tiles of 16 x 16, two kernels an
 * iteration.
 *
 * What lies north and south of a tile is loaded by all 8 warps of a block, 16 elements side by side, twice; west and
 * east 16 lanes load one element. At the border the kernel reads outside its array (row -1, row rows, element -1), then
 * again inside: so do we. J is copied in again before each iteration. Branches for the edges of a tile: as a warp of
 * rows within it takes them.
 * Worked example, 64 x 64: block 0, warp 0: north: bytes -256 to -193 of J, south: from 16 x 256 on, then as by = 0
 * bytes 0 to 63; west: bytes -4 and 252.
 * Source: Rodinia 3.1, cuda/srad/srad_v2/srad.cu and srad_kernel.cu (srad_cuda_1, srad_cuda_2).
 * Differs: copies between iterations are not made. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { TILE = 16, THREADS = TILE * TILE, J = 0, C, E, W, S, N };
enum { COEFFICIENT = 89, EDGES = 18 }; /* instructions in shared memory */

struct sradv2 {
    struct layout layout;
    int64_t rows, cols, iterations;
    int64_t down, across; /* tiles */
};

static const struct param sradv2_keys[] = {
    PARAM_INT_ROW(sradv2, rows, "", TILE, 1 << 26, 2048, "a multiple of 16; rows x cols below 2^31"),
    PARAM_INT_ROW(sradv2, cols, "", TILE, 1 << 26, 2048, "a multiple of 16"),
    PARAM_INT_ROW(sradv2, iterations, "", 1, 1 << 20, 2, "of two launches each"),
    RODINIA_KEYS("time of a warp whose data is all at hand")};

/* Elements of lanes: side by side from one row of the tile, a column of it beside them, their own cells. */
enum { ROW, COLUMN, CELLS };

/* Element number `at` from the tile's first one (ROW), or from that of the first column in lane 0's row. */
static struct program_access *tile(const struct emit *e, unsigned array, unsigned which, int64_t at, unsigned before,
                                   unsigned use)
{
    const struct sradv2 *s = e->state;
    int64_t k = s->cols, first = (int64_t)e->at.block / s->across * TILE * k + (int64_t)e->at.block % s->across * TILE;
    first += at + (which == ROW ? 0 : k * 2 * e->at.warp);
    return emit_tile(e, emit_load(e, array, first, before, use), TILE, which == ROW ? 0 : k, which != COLUMN);
}

static void store(const struct emit *e, unsigned array, unsigned before)
{
    emit_as(tile(e, array, CELLS, 0, before, 0), RECORD_WRITE);
}

/* Body 0: the loads; body 1: the stores. */
static int srad_cuda_1(struct emit *e)
{
    const struct sradv2 *s = e->state;
    int64_t k = s->cols, bx = (int64_t)e->at.block % s->across, by = (int64_t)e->at.block / s->across;
    bool upper = by == 0, lower = by == s->down - 1, left = bx == 0, right = bx == s->across - 1;
    if (e->index > 1)
        return 0;
    if (e->index == 1) {
        emit_barrier(e, COEFFICIENT);
        for (unsigned array = C; array <= N; array++)
            store(e, array, array == C ? 4 : 2);
        return emit_end(e, 1);
    }
    tile(e, J, ROW, -k, 16, 6);
    tile(e, J, ROW, TILE * k, 8, 4);
    emit_hoist(e, 0);
    if (upper || lower) /* upper goes before lower, as in the source */
        tile(e, J, ROW, upper ? 0 : (TILE - 1) * k, upper ? 9 : 14, 1);
    emit_barrier(e, upper ? 2 : lower ? 3 : 11);
    uint32_t first = e->body->count;
    tile(e, J, COLUMN, -1, 3, 4);
    tile(e, J, COLUMN, TILE, 4, 4);
    emit_hoist(e, first);
    if (left || right)
        tile(e, J, COLUMN, left ? 0 : TILE - 1, left ? 9 : 15, 1);
    emit_barrier(e, left ? 1 : right ? 2 : 10);
    tile(e, J, CELLS, 0, 4, 4);
    emit_barrier(e, 4);
    return emit_end(e, 0);
}

static int srad_cuda_2(struct emit *e)
{
    const struct sradv2 *s = e->state;
    int64_t k = s->cols, bx = (int64_t)e->at.block % s->across, by = (int64_t)e->at.block / s->across;
    bool lower = by == s->down - 1, right = bx == s->across - 1;
    if (e->index > 1)
        return 0;
    if (e->index == 1) {
        tile(e, N, CELLS, 0, EDGES, 6);
        tile(e, S, CELLS, 0, 2, 2);
        tile(e, W, CELLS, 0, 5, 1);
        tile(e, E, CELLS, 0, 3, 2);
        emit_hoist(e, 0);
        emit_barrier(e, 13);
        store(e, J, 1);
        return emit_end(e, 1);
    }
    tile(e, J, CELLS, 0, 15, 6);
    emit_barrier(e, 6);
    tile(e, C, ROW, TILE * k, 2, 4);
    if (lower)
        tile(e, C, ROW, (TILE - 1) * k, 12, 1);
    emit_barrier(e, lower ? 1 : 8);
    tile(e, C, COLUMN, TILE, 2, 4);
    if (right)
        tile(e, C, COLUMN, TILE - 1, 13, 1);
    emit_barrier(e, right ? 1 : 8);
    tile(e, C, CELLS, 0, 1, 4);
    emit_barrier(e, 4);
    return emit_end(e, 0);
}

static int sradv2_init(struct sradv2 *s, struct err *err)
{
    if (s->rows % TILE || s->cols % TILE || s->rows * s->cols > INT32_MAX)
        return err_set(err, "rodinia-srad-v2: %lld x %lld elements; expected multiples of 16, less than 2^31 in all",
                       (long long)s->rows, (long long)s->cols);
    s->down = s->rows / TILE;
    s->across = s->cols / TILE;
    LAYOUT_ARRAYS(&s->layout, {"+J", s->rows * s->cols * 4}, {"C|E|W|S|N", s->rows * s->cols * 4});
    layout_kernel(&s->layout, srad_cuda_1, "srad_cuda_1", s->down * s->across, THREADS, 22, 6 * THREADS * 4);
    layout_kernel(&s->layout, srad_cuda_2, "srad_cuda_2", s->down * s->across, THREADS, 26, 5 * THREADS * 4);
    s->layout.alike = true;
    s->layout.launches = 2 * (uint32_t)s->iterations;
    return 0;
}

RODINIA(sradv2, "srad-v2", "srad/srad_v2", "speckle reduction in tiles with shared memory, two kernels an iteration",
        free);
