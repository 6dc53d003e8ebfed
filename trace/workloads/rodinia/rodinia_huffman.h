/* rodinia_huffman: what the parts of rodinia-huffman share; rodinia_huffman.c tells of the whole. */
#ifndef TRACE_WORKLOADS_RODINIA_RODINIA_HUFFMAN_H
#define TRACE_WORKLOADS_RODINIA_RODINIA_HUFFMAN_H

#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"

enum { PARTS = 32, BLOCK = 256, PACK = 16, SCANNED = 2 * BLOCK, WORD_BITS = 32, UNROLL = 4 };
enum { BUFFER0, BUFFER1, HIST, DATA, OUT, PACKED, CODE, LEN, CW32, CW32LEN, CW32IDX, CIDX, CIDX2, SUMS, ARRAYS };
enum kernel { HISTO, ENCODE, SCAN, SCAN_SUMS, ADD, PACK2 };

struct huffman_params {
    int64_t blocks, bits, runs, sms, order, compute_ns;
};

struct huffman {
    uint64_t blocks, bits;
    struct huffman_params p;
    bool sums; /* the prefix sum needs sums of sums */
    struct program_alloc allocs[ARRAYS];
};

static inline struct program_access *add(const struct huffman *s, struct program_body *body, unsigned array,
                                         uint64_t element, uint32_t active, uint32_t before, uint16_t use)
{
    struct program_access *a = program_load(body, s->allocs, array, element * 4, 4);
    a->active = active;
    a->before = (uint16_t)before;
    a->use = use;
    return a;
}

static inline struct program_access *add_store(const struct huffman *s, struct program_body *body, unsigned array,
                                               uint64_t element, uint32_t active, uint32_t before)
{
    struct program_access *a = add(s, body, array, element, active, before, 0);
    a->kind = RECORD_WRITE;
    return a;
}

static inline void add_barrier(struct program_body *body, uint32_t before)
{
    program_barrier(body);
    body->access[body->count - 1].before = (uint16_t)before;
}

/* The kernels that sum up in shared memory; they return what program_ops.body returns. */
int huffman_encode(const struct huffman *s, const struct program_warp *at, uint32_t index, struct program_body *body);
int huffman_scan(const struct huffman *s, const struct program_launch *shape, const struct program_warp *at,
                 enum kernel kernel, uint32_t index, struct program_body *body);
int huffman_add(const struct huffman *s, const struct program_warp *at, uint32_t index, struct program_body *body);

#endif
