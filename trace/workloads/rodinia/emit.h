/* emit: what the files of Rodinia's kernels share: the accesses of a body, one after the other, as a listing of the
 * kernel has them: array, element, instructions before, use.
 *
 * Worked example: `/4 L A[i] u3` of lanes 0 to 15, i of lane 0: e.active = 0xffff; emit_load(&e, A, i, 4, 3). */
#ifndef TRACE_WORKLOADS_RODINIA_EMIT_H
#define TRACE_WORKLOADS_RODINIA_EMIT_H

#include "trace/workloads/rodinia/order.h"

enum { RODINIA_BASE = 0xC0000000u, RODINIA_ALIGN = 256 }; /* explicit arrays: where they lie, on which boundaries */

/* What follows belongs to these lanes, of elements of so many bytes. */
struct emit {
    struct program_body *body;
    const struct program_alloc *allocs;
    uint32_t active, bytes;
};

static inline struct emit emit_to(struct program_body *body, const struct program_alloc *allocs, uint32_t active)
{
    return (struct emit){body, allocs, active, 4};
}

/* Element `index` is lane 0's, index + 1 lane 1's; an index may lie outside the array. */
static inline struct program_access *emit_load(const struct emit *e, unsigned array, int64_t index, unsigned before,
                                               unsigned use)
{
    struct program_access *a = program_load(e->body, e->allocs, array, (uint64_t)(index * (int64_t)e->bytes), e->bytes);
    a->active = e->active;
    a->before = (uint16_t)before;
    a->use = (uint16_t)use;
    return a;
}

static inline struct program_access *emit_store(const struct emit *e, unsigned array, int64_t index, unsigned before)
{
    struct program_access *a = emit_load(e, array, index, before, 0);
    a->kind = RECORD_WRITE;
    return a;
}

/* All lanes' accesses are of one element. */
static inline struct program_access *emit_same(struct program_access *a)
{
    a->lane_stride = 0;
    return a;
}

/* Lanes lie `elements` of the access's size apart. */
static inline struct program_access *emit_apart(struct program_access *a, int64_t elements)
{
    a->lane_stride = elements * a->bytes;
    return a;
}

static inline void emit_barrier(const struct emit *e, unsigned before)
{
    program_barrier(e->body);
    e->body->access[e->body->count - 1].before = (uint16_t)before;
}

#endif
