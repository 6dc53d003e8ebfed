/* gemm_program: matrix products as a program: Y_i = X W_i for i = 0 to launches - 1, one launch each, tiled through
 * shared memory or straight from memory.
 *
 * X has m rows of k floats, W_i k rows of n, Y_i m rows of n, row after row; they are the GPU's own, X and W_i copied
 * there. A block of tile x tile threads makes one tile of Y_i: for each tile of k it loads an element of X and one of
 * W_i a thread into shared memory, meets, multiplies tile by tile, and meets again; then it stores. Blocks go along a
 * row of tiles first. Worked example, m = n = k = 64, tile 32: 4 blocks of 32 warps; a warp makes two turns of two
 * loads of 4 sectors each, then a store of 4 sectors. Straight from memory the same blocks have a thread load, for each
 * element of k, one of X, the same for its row of threads, and one of W_i; the loop is unrolled by four.
 *
 * Source: the sizes, three products of 128 x 4096 x 4096 one after the other: gupta-2025-f3fs section III and its
 * artifact; tiling: CUDA programming guide, shared memory.
 *
 * Assumed, since no code of the products is named: tiled (or straight), tile 32 (or 16: doubles what goes over the
 * interconnect), no registers kept but one sum a thread, 32 registers (24 to 128: 1 or 2 blocks of 1,024
 * threads are resident either way), 3 instructions for each product of a thread (2 to 4: two reads of shared memory and
 * a multiply-add, some of them wide), blocks along rows first (or columns: then a tile of W_i is read by neighbours).
 */
#ifndef TRACE_WORKLOADS_ML_GEMM_PROGRAM_H
#define TRACE_WORKLOADS_ML_GEMM_PROGRAM_H

#include "trace/program/program.h"

enum { GEMM_LAUNCHES_MAX = 8 };

struct gemm {
    uint32_t m, n, k; /* multiples of tile */
    uint32_t tile;    /* 16 or 32 */
    uint32_t launches;
    uint32_t registers;                                     /* of a thread */
    uint32_t per_product;                                   /* instructions */
    bool columns_first;                                     /* blocks go down a column of tiles first */
    bool untiled;                                           /* straight from memory */
    struct program_alloc allocs[1 + 2 * GEMM_LAUNCHES_MAX]; /* X, then W_i, then Y_i; made by gemm_init() */
};

/* The numbers are set; places the arrays from `base` on. -1 with *err set: what does not fit. */
int gemm_init(struct gemm *gemm, uint64_t base, struct err *err);

/* state: a const struct gemm *. */
extern const struct program_ops gemm_ops;

#endif
