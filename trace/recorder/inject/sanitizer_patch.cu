/* sanitizer_patch: what runs on the device at every global access of an instrumented kernel: offchip_access() records
 * it in a ring that the host drains meanwhile (access_ring.h); offchip_touch() its page, once.
 *
 * compute-sanitizer's library calls these functions, once per active thread, before the instruction; user is what the
 * launch was given, which may be anything for a launch that nobody prepared (access_ring_of()). No header of the
 * Sanitizer API is needed: the signatures are SanitizerCallbackMemoryAccess and SanitizerCallbackMemcpyAsync in our
 * words. Lanes that reach the instruction apart are recorded apart. Generic addresses in shared or local memory are
 * left out: they do not leave the multiprocessor. Build: nvcc --fatbin --compile-as-tools-patch -arch=all -I. */
#include "trace/recorder/wire/access_ring.h"
#include "trace/recorder/wire/sanitizer_abi.h"

#ifdef __CUDACC__ /* else a test plays the lanes of a warp (trace/recorder/wire/access_ring_order_test.c) */
#define PATCH_FUNCTION static __device__ __forceinline__
#define PATCH_ENTRY    extern "C" __device__ __noinline__

PATCH_FUNCTION uint64_t grid_number()
{
    uint64_t grid;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
    return grid;
}

PATCH_FUNCTION uint32_t lane_number()
{
    uint32_t lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
#endif

PATCH_FUNCTION uint32_t linear_block(void)
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

PATCH_FUNCTION uint32_t linear_warp(void)
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}

/* How the lanes' addresses can be told; the same in each of them. distance: from the first lane's; rank: lanes before. */
PATCH_FUNCTION enum access_shape shape_of(uint32_t mask, uint64_t distance, uint64_t stride, uint32_t rank)
{
    const int in_step = __all_sync(mask, distance == rank * stride && (int64_t)stride == (int32_t)stride);
    const int narrow = __all_sync(mask, (int64_t)distance == (int32_t)distance);
    return in_step ? ACCESS_IN_STEP : narrow ? ACCESS_NARROW : ACCESS_WIDE;
}

PATCH_FUNCTION void into_ring(struct access_ring *ring, uint32_t mask, uint64_t pc, uint64_t address, uint32_t bytes,
                              uint32_t flags)
{
    const uint32_t lane = lane_number(), others = mask & (mask - 1), leader = (uint32_t)__ffs((int)mask) - 1;
    const uint32_t rank = (uint32_t)__popc(mask & ((1u << lane) - 1));
    const uint64_t first = __shfl_sync(mask, (unsigned long long)address, (int)leader);
    const uint64_t second =
        __shfl_sync(mask, (unsigned long long)address, others ? __ffs((int)others) - 1 : (int)leader);
    const enum access_shape shape = shape_of(mask, address - first, second - first, rank);
    unsigned long long number = 0;
    if (lane == leader)
        number = access_ring_reserve(ring, access_ring_units(shape, (unsigned)__popc(mask)));
    number = __shfl_sync(mask, number, (int)leader);
    if (number == ACCESS_RING_NONE)
        return;
    if (lane == leader)
        access_ring_describe(ring, number, shape, pc, mask, flags, bytes, linear_block(), linear_warp(), first,
                             second - first);
    else
        access_ring_lane(ring, number, shape, rank, address, first);
}

PATCH_FUNCTION void record(void *user, uint64_t pc, const void *address, uint32_t bytes, uint32_t flags)
{
    struct access_ring *ring = access_ring_of(user);
    if (!ring || !address || __isShared(address) || __isLocal(address) || !access_ring_samples(ring, linear_block()))
        return;
    const uint32_t mask = __activemask(), leader = (uint32_t)__ffs((int)mask) - 1;
    int wanted = 0;
    if (lane_number() == leader)
        wanted = access_ring_owns(ring, grid_number()) && ring_add(&ring->taken, 1) < ring->capacity;
    if (__shfl_sync(mask, wanted, (int)leader))
        into_ring(ring, mask, pc, (uint64_t)address, bytes, flags);
}

PATCH_ENTRY uint32_t offchip_access(void *user, uint64_t pc, void *address, uint32_t bytes, uint32_t flags,
                                    const void *value)
{
    (void)value;
    record(user, pc, address, bytes, flags);
    return SAN_PATCH_SUCCESS;
}

/* An asynchronous copy from global to shared memory reads the global side. */
PATCH_ENTRY uint32_t offchip_access_async(void *user, uint64_t pc, void *source, uint32_t shared, uint32_t bytes)
{
    (void)shared;
    record(user, pc, source, bytes, SAN_FLAG_READ);
    return SAN_PATCH_SUCCESS;
}

/* A page that is known costs each lane a look. Of the lanes that touch an unknown one together one goes on. */
PATCH_FUNCTION void touch(void *user, const void *address, uint32_t flags)
{
    struct access_ring *ring = access_ring_of(user);
    if (!ring || touch_table_knows(ring, (uint64_t)address, flags))
        return;
    if (!address || (flags & SAN_FLAG_PREFETCH) || __isShared(address) || __isLocal(address))
        return;
    const unsigned long long page = (uint64_t)address >> TOUCH_PAGE_BITS;
    const uint32_t together = __match_any_sync(__activemask(), page);
    if (lane_number() == (uint32_t)__ffs((int)together) - 1)
        touch_table_touch(ring, (uint64_t)address, flags, linear_block(), linear_warp(), grid_number());
}

PATCH_ENTRY uint32_t offchip_touch(void *user, uint64_t pc, void *address, uint32_t bytes, uint32_t flags,
                                   const void *value)
{
    (void)pc;
    (void)bytes;
    (void)value;
    touch(user, address, flags);
    return SAN_PATCH_SUCCESS;
}

PATCH_ENTRY uint32_t offchip_touch_async(void *user, uint64_t pc, void *source, uint32_t shared, uint32_t bytes)
{
    (void)pc;
    (void)shared;
    (void)bytes;
    touch(user, source, SAN_FLAG_READ);
    return SAN_PATCH_SUCCESS;
}
