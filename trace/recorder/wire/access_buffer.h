/* access_buffer: where a patched kernel puts its accesses, in the memory of the device; one buffer a launch.
 *
 * A header and behind it slots, one for each warp instruction; or, where the host drains while the kernel runs, a
 * ring's state (access_ring.h). The active lanes of a warp elect a leader; it takes a number with one atomic addition
 * and describes the access in that slot; each active lane stores its address. Numbers past the capacity have no slot:
 * `taken` counts them all the same, so that what is missing is known. This header is compiled for the device
 * (trace/recorder/inject/sanitizer_patch.cu) and for the host, which reads the slots. */
#ifndef TRACE_RECORDER_WIRE_ACCESS_BUFFER_H
#define TRACE_RECORDER_WIRE_ACCESS_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define ACCESS_BUFFER_FUNCTION static __device__ __forceinline__
#else
#define ACCESS_BUFFER_FUNCTION static inline
#endif

struct access_buffer {
    unsigned long long taken; /* numbers handed out */
    unsigned long long capacity;
    uint64_t every, phase; /* only blocks whose number + phase is a multiple of `every` are recorded; 0, 1: all */
    uint64_t ring; /* 1: no slots, a struct access_ring is behind; capacity is what the ring may be given in all */
    uint64_t reserved[3];
};

struct access_slot {
    uint64_t pc;
    uint32_t mask;  /* active lanes */
    uint32_t flags; /* SAN_FLAG_... */
    uint32_t bytes; /* per lane */
    uint32_t block; /* linear */
    uint32_t warp;  /* in the block */
    uint32_t reserved;
    uint64_t addrs[32]; /* by lane; those of inactive lanes are not written */
};

/* Whether accesses of a block are wanted. */
ACCESS_BUFFER_FUNCTION int access_buffer_samples(const struct access_buffer *buffer, uint32_t block)
{
    return buffer->every < 2 || (block + buffer->phase) % buffer->every == 0;
}

/* The leader: one number for the access. */
ACCESS_BUFFER_FUNCTION unsigned long long access_buffer_take(struct access_buffer *buffer)
{
#ifdef __CUDACC__
    return atomicAdd(&buffer->taken, 1ull);
#else
    return __atomic_fetch_add(&buffer->taken, 1ull, __ATOMIC_RELAXED);
#endif
}

/* The slot of a number; NULL past the capacity. */
ACCESS_BUFFER_FUNCTION struct access_slot *access_buffer_slot(struct access_buffer *buffer, unsigned long long number)
{
    return number < buffer->capacity ? (struct access_slot *)(buffer + 1) + number : NULL;
}

/* The leader: everything but the addresses. */
ACCESS_BUFFER_FUNCTION void access_buffer_describe(struct access_slot *slot, uint64_t pc, uint32_t mask, uint32_t flags,
                                                   uint32_t bytes, uint32_t block, uint32_t warp)
{
    slot->pc = pc;
    slot->mask = mask;
    slot->flags = flags;
    slot->bytes = bytes;
    slot->block = block;
    slot->warp = warp;
    slot->reserved = 0;
}

/* Each active lane. */
ACCESS_BUFFER_FUNCTION void access_buffer_lane(struct access_slot *slot, uint32_t lane, uint64_t address)
{
    slot->addrs[lane] = address;
}

#endif
