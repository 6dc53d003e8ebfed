/* access_ring_testing: what trace/recorder/inject/sanitizer_patch.cu does on a GPU, of a whole warp, by one thread. */
#pragma once

#include "trace/recorder/wire/access_ring.h"

/* An access as the host has it. */
struct access_slot {
    uint64_t pc;
    uint32_t mask;      /* active lanes */
    uint32_t flags;     /* SAN_FLAG_... */
    uint32_t bytes;     /* per lane */
    uint32_t block;     /* linear */
    uint32_t warp;      /* in the block */
    uint64_t addrs[32]; /* by lane; those of inactive lanes are not written */
};

/* The access whose first unit is `number`: how many units it has; 0: it is not all there, or is none. */
static inline unsigned access_ring_read(const struct access_ring_host *host, uint64_t units, uint64_t number,
                                        struct access_slot *slot)
{
    struct access_told u;
    uint64_t addrs[32];
    if (!access_ring_next(host, units, number, &u, addrs))
        return 0;
    *slot = (struct access_slot){u.pc, u.mask, u.flags, u.bytes, u.block, u.warp, {0}};
    for (uint32_t lane = 0, i = 0; lane < 32; lane++)
        if (slot->mask >> lane & 1)
            slot->addrs[lane] = access_told_address(&u, addrs, i++);
    return u.units;
}

static inline enum access_shape access_ring_shape(const struct access_slot *slot, uint64_t first, uint64_t stride)
{
    int in_step = (int64_t)stride == (int32_t)stride, narrow = 1;
    uint64_t rank = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        if (slot->mask >> lane & 1) {
            const uint64_t distance = slot->addrs[lane] - first;
            in_step &= distance == rank++ * stride;
            narrow &= (int64_t)distance == (int32_t)distance;
        }
    return in_step ? ACCESS_IN_STEP : narrow ? ACCESS_NARROW : ACCESS_WIDE;
}

/* Whether there was room. */
static inline int access_ring_play(struct access_ring *ring, const struct access_slot *slot)
{
    const uint32_t others = slot->mask & (slot->mask - 1);
    const uint64_t first = slot->addrs[__builtin_ctz(slot->mask)];
    const uint64_t stride = others ? slot->addrs[__builtin_ctz(others)] - first : 0;
    const enum access_shape shape = access_ring_shape(slot, first, stride);
    const unsigned lanes = (unsigned)__builtin_popcount(slot->mask);
    const unsigned long long number = access_ring_reserve(ring, access_ring_units(shape, lanes));
    if (number == ACCESS_RING_NONE)
        return 0;
    access_ring_describe(ring, number, shape, slot->pc, slot->mask, slot->flags, slot->bytes, slot->block, slot->warp,
                         first, stride);
    unsigned rank = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        if (slot->mask >> lane & 1 && rank++ > 0)
            access_ring_lane(ring, number, shape, rank - 1, slot->addrs[lane], first);
    return 1;
}
