/* sanitizer_patch: what runs on the device at every global access of an instrumented kernel: offchip_access() records it
 * (access_buffer.h), offchip_touch() its page, once (touch_buffer.h).
 *
 * compute-sanitizer's library calls these functions, once per active thread, before the instruction; user is the buffer
 * that the launch was given, NULL for launches that are not recorded. No header of the Sanitizer API is needed: the
 * signatures are SanitizerCallbackMemoryAccess and SanitizerCallbackMemcpyAsync in our words.
 * Lanes that reach the instruction apart are recorded apart. Generic addresses in shared or local memory are left out:
 * they do not leave the multiprocessor.
 * Build: nvcc --fatbin --compile-as-tools-patch -arch=all -I. */
#include "trace/recorder/wire/access_buffer.h"
#include "trace/recorder/wire/sanitizer_abi.h"
#include "trace/recorder/wire/touch_buffer.h"

static __device__ __forceinline__ uint32_t linear_block()
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

static __device__ __forceinline__ uint32_t linear_warp()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32;
}

static __device__ __forceinline__ uint32_t lane_number()
{
    uint32_t lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

static __device__ __forceinline__ void record(void *user, uint64_t pc, const void *address, uint32_t bytes,
                                              uint32_t flags)
{
    struct access_buffer *buffer = (struct access_buffer *)user;
    if (!buffer || !address || __isShared(address) || __isLocal(address) ||
        !access_buffer_samples(buffer, linear_block()))
        return;
    const uint32_t mask = __activemask(), lane = lane_number(), leader = (uint32_t)__ffs((int)mask) - 1;
    unsigned long long number = 0;
    if (lane == leader)
        number = access_buffer_take(buffer);
    number = __shfl_sync(mask, number, (int)leader);
    struct access_slot *slot = access_buffer_slot(buffer, number);
    if (!slot)
        return;
    if (lane == leader)
        access_buffer_describe(slot, pc, mask, flags, bytes, linear_block(), linear_warp());
    access_buffer_lane(slot, lane, (uint64_t)address);
}

extern "C" __device__ __noinline__ uint32_t offchip_access(void *user, uint64_t pc, void *address, uint32_t bytes,
                                                           uint32_t flags, const void *value)
{
    (void)value;
    record(user, pc, address, bytes, flags);
    return SAN_PATCH_SUCCESS;
}

/* An asynchronous copy from global to shared memory reads the global side. */
extern "C" __device__ __noinline__ uint32_t offchip_access_async(void *user, uint64_t pc, void *source, uint32_t shared,
                                                                 uint32_t bytes)
{
    (void)shared;
    record(user, pc, source, bytes, SAN_FLAG_READ);
    return SAN_PATCH_SUCCESS;
}

/* Lanes that touch one page together have one leader, which looks at the page's bit. */
static __device__ __forceinline__ void touch(void *user, const void *address, uint32_t flags)
{
    struct touch_buffer *buffer = (struct touch_buffer *)user;
    if (!buffer || !address || (flags & SAN_FLAG_PREFETCH) || __isShared(address) || __isLocal(address))
        return;
    const unsigned long long page = (uint64_t)address >> TOUCH_PAGE_BITS;
    const uint32_t together = __match_any_sync(__activemask(), page);
    if (lane_number() == (uint32_t)__ffs((int)together) - 1)
        touch_buffer_touch(buffer, (uint64_t)address, flags, (uint64_t)linear_block() << 32 | linear_warp());
}

extern "C" __device__ __noinline__ uint32_t offchip_touch(void *user, uint64_t pc, void *address, uint32_t bytes,
                                                          uint32_t flags, const void *value)
{
    (void)pc;
    (void)bytes;
    (void)value;
    touch(user, address, flags);
    return SAN_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ uint32_t offchip_touch_async(void *user, uint64_t pc, void *source, uint32_t shared,
                                                                uint32_t bytes)
{
    (void)pc;
    (void)shared;
    (void)bytes;
    touch(user, source, SAN_FLAG_READ);
    return SAN_PATCH_SUCCESS;
}
