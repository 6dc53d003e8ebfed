/* rodinia_huffman: what the kernels of rodinia-huffman share, file by file of its source. */
#ifndef TRACE_WORKLOADS_RODINIA_RODINIA_HUFFMAN_H
#define TRACE_WORKLOADS_RODINIA_RODINIA_HUFFMAN_H

#include "trace/workloads/rodinia/rodinia.h"

enum { HUFFMAN_THREADS = 256, HUFFMAN_PACK = 16, HUFFMAN_SCANNED = 2 * HUFFMAN_THREADS, HUFFMAN_WORD_BITS = 32 };

/* Arrays, and kernels, in order. */
enum {
    HUFFMAN_BUFFER0,
    HUFFMAN_BUFFER1,
    HUFFMAN_HIST,
    HUFFMAN_DATA,
    HUFFMAN_OUT,
    HUFFMAN_PACKED,
    HUFFMAN_CODE,
    HUFFMAN_LEN,
    HUFFMAN_CW32,
    HUFFMAN_CW32LEN,
    HUFFMAN_CW32IDX,
    HUFFMAN_CIDX,
    HUFFMAN_CIDX2,
    HUFFMAN_SUMS
};
enum { HUFFMAN_HISTO, HUFFMAN_ENCODE, HUFFMAN_SCAN, HUFFMAN_SCAN_SUMS, HUFFMAN_ADD, HUFFMAN_PACK2 };

struct rodinia_huffman_params {
    int64_t blocks, bits, runs, sms, order, compute_ns;
};

struct rodinia_huffman {
    struct plan plan;
    struct rodinia_huffman_params p;
    bool sums; /* the prefix sum needs sums of sums */
};

/* --- rodinia_huffman_scan.c: scan.cu, scanLargeArray_kernel.cu --- */

/* The two passes of a tree over shared memory, barriers and nothing else: `work` of a warp in a step in which it has a
 * thread below d. *before: instructions since the last access. */
void huffman_add_up(const struct emit *e, uint32_t d, uint32_t work, uint32_t *before);
void huffman_add_down(const struct emit *e, uint32_t last, uint32_t work, uint32_t *before);

/* The exclusive sum of CIDX into CIDX2; of the sums of its blocks; and those added to its blocks. */
plan_body huffman_prescan, huffman_prescan_sums, huffman_uniform_add;

/* --- rodinia_huffman_pack.c: pack_kernels.cu; blocks of HUFFMAN_PACK threads, each of which packs a block of words ---
 */
plan_body huffman_pack2;

#endif
