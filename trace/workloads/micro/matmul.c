/* matmul: c = a b over n x n floats, in tiles of 32 x 32 kept in shared memory; a block of 1,024 threads a tile of c.
 *
 *     for (t = 0; t < n / 32; t++) {
 *         sa[y][x] = a[row][32 t + x]; sb[y][x] = b[32 t + y][column]; __syncthreads();
 *         for (k = 0; k < 32; k++) sum += sa[y][k] * sb[k][x];
 *         __syncthreads(); }
 *     c[row][column] = sum
 *
 * The CPU has written a and b. A warp is row y of its tile; a tile of the loop is a body.
 * Worked example: n = 64: 4 blocks of 32 warps; a warp loads 32 elements of a and of b twice, then stores 32 of c.
 * Source: the loop above, that of matrixMul of the CUDA samples. Differs: instructions and registers are counted by
 * eye: of each step two loads of shared memory and a multiply-add. */
#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { TILE = PROGRAM_LANES, A = 0, B = 1, C = 2, REGISTERS = 32, SHARED = 2 * TILE * TILE * 4, STEPS = 3 * TILE };

struct matmul {
    struct layout layout;
    int64_t n, launches;
};

static const struct param matmul_keys[] = {
    PARAM_INT_ROW(matmul, n, "", TILE, 1 << 16, 1024, "rows and columns, a multiple of 32"),
    PARAM_INT_ROW(matmul, launches, "", 1, 1000000, 1, "how often the kernel runs"),
    LAYOUT_COMPUTE_NS("time of a warp's tile of the loop, its data at hand"),
    {0}};

static int matmul(struct emit *e)
{
    const int64_t n = ((const struct matmul *)e->state)->n, tiles = n / TILE, t = e->index;
    const int64_t row = (int64_t)e->at.block / tiles * TILE + e->at.warp;
    const int64_t column = (int64_t)e->at.block % tiles * TILE;
    if (t == tiles)
        return 0;
    emit_load(e, A, row * n + t * TILE, 4, 3);
    emit_load(e, B, (t * TILE + e->at.warp) * n + column, 1, 2);
    emit_barrier(e, 2);
    emit_barrier(e, STEPS);
    if (t + 1 == tiles)
        emit_store(e, C, row * n + column, 2);
    e->body->last = t + 1 == tiles;
    return emit_end(e, 2);
}

static int matmul_init(struct matmul *m, struct err *err)
{
    const uint64_t tiles = (uint64_t)m->n / TILE, bytes = (uint64_t)(m->n * m->n) * 4;
    if (m->n % TILE)
        return err_set(err, "n is %lld; expected a multiple of 32", (long long)m->n);
    LAYOUT_ARRAYS(&m->layout, {"+a", bytes}, {"+b", bytes}, {"c", bytes});
    layout_kernel(&m->layout, matmul, "matmul", tiles * tiles, TILE * TILE, REGISTERS, SHARED);
    m->layout.launches = (uint32_t)m->launches;
    return 0;
}

WORKLOAD_OF_LAYOUT(matmul, workload_matmul, "matmul",
                   "tiled matrix product c = a b: a block reads rows of tiles of a and columns of tiles of b",
                   "the loop of matrixMul, CUDA samples", layout_open, free);
