/* nw_tiles: the two kernels of Rodinia's Needleman-Wunsch, of which nw and rodinia-nw are sizes and memories: two
 * square arrays of ints, one launch per anti-diagonal of 16 x 16 tiles, forth and back.
 *
 * With T tiles across and C = 16 T + 1 columns: kernel 1 for i = 1 to T, tile X = block, Y = i-1 - block; kernel 2 for
 * i = T-1 to 1, tile X = block + T-i, Y = T-1 - block. Blocks of 16 threads, half a warp. o = 16 C Y + 16 X, lane l:
 *     kernel 1: lane 0: MAT[o]; REF[o + C + 1 + C r + l], r = 0 to 15; barrier; MAT[o + C + C l]; barrier;
 *               MAT[o + 1 + l]; barrier; 31 steps in shared memory; store MAT[o + C + 1 + C r + l], r = 0 to 15
 *     kernel 2: the same, but REF first, then a barrier, and MAT[o] before MAT[o + C + C l]
 * order=hoisted: what stands between two barriers is loaded before the first value is used (stored to shared memory);
 * order=ptx: each value is used before the next is loaded.
 * Worked example: T = 2, launches of 1, 2 and 1 blocks; block 0 of the second is tile X = 0, Y = 1: o = 16 C.
 * Instructions: two before each access, 15 a step, its barrier included: assumed, after the machine code that nvcc 13.0
 * -O3 makes for sm_90 of fixtures/cuda/kernels.cu. Registers, shared memory: Rodinia's kernel by nvcc 13.0 for compute
 * capability 7.5.
 * Source: Rodinia 3.1, cuda/nw/needle.cu (launches) and needle_kernel.cu (index, index_n, index_w, index_nw).
 * Differs: the barriers of the 31 steps, which hold nobody as a block is one warp, are instructions only. */
#ifndef TRACE_WORKLOADS_RODINIA_NW_TILES_H
#define TRACE_WORKLOADS_RODINIA_NW_TILES_H

#include "trace/workloads/rodinia/rodinia.h"

enum { NW_TILE = 16 };

struct nw_tiles {
    struct plan plan;
    int64_t columns, tiles;     /* C, T */
    unsigned matrix, reference; /* numbers of the arrays */
};

/* Adds to a plan with nothing in it the arrays, both written by the CPU, of which MAT is number `matrix` (0 or 1), and
 * the launches. */
void nw_tiles_init(struct nw_tiles *nw, uint32_t tiles, unsigned matrix);

#endif
