/* emit: what the files of Rodinia's kernels share: the accesses of a body, one after the other, as a listing of the
 * kernel has them: array, element, instructions before, use.
 *
 * Worked example: `/4 L A[i] u3` of lanes 0 to 15, i of lane 0: e.active = 0xffff; emit_load(&e, A, i, 4, 3). */
#ifndef TRACE_WORKLOADS_RODINIA_EMIT_H
#define TRACE_WORKLOADS_RODINIA_EMIT_H

#include "trace/workloads/rodinia/order.h"

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

/* Lane l's element is index[l] (32 of them, those of inactive lanes never looked at). */
static inline struct program_access *emit_gather(const struct emit *e, unsigned array, const int64_t *index,
                                                 unsigned before, unsigned use)
{
    unsigned first = (unsigned)__builtin_ctz(e->active), next = first;
    uint32_t rest = e->active & (e->active - 1);
    if (rest)
        next = (unsigned)__builtin_ctz(rest);
    int64_t apart = next > first ? (index[next] - index[first]) / (int64_t)(next - first) : 0;
    struct program_access *a = emit_load(e, array, index[first] - apart * (int64_t)first, before, use);
    (void)emit_apart(a, apart);
    bool even = true;
    for (; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        even &= index[l] == index[first] + apart * (int64_t)(l - first);
    }
    if (even)
        return a;
    uint64_t *lane = program_scatter(e->body, a);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        lane[l] = e->allocs[array].addr + (uint64_t)((e->active >> l & 1 ? index[l] : index[first]) * a->bytes);
    return a;
}

static inline struct program_access *emit_scatter(const struct emit *e, unsigned array, const int64_t *index,
                                                  unsigned before)
{
    struct program_access *a = emit_gather(e, array, index, before, 0);
    a->kind = RECORD_WRITE;
    return a;
}

static inline void emit_barrier(const struct emit *e, unsigned before)
{
    program_barrier(e->body);
    e->body->access[e->body->count - 1].before = (uint16_t)before;
}

#endif
