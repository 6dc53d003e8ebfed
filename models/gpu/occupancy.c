#include "models/gpu/occupancy.h"

enum { LANES = 32, REGISTER_UNIT = 256 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint32_t occupancy_blocks(const struct gpu *gpu, uint32_t threads, uint32_t registers, uint32_t shared, uint32_t most)
{
    uint64_t warps = (threads + LANES - 1) / LANES;
    uint64_t blocks = least((uint64_t)gpu->blocks_per_sm, (uint64_t)gpu->warps_per_sm / warps);
    if (registers) {
        uint64_t of_warp = (registers * (uint64_t)LANES + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
        blocks = least(blocks, (uint64_t)gpu->registers_per_sm / (of_warp * warps));
    }
    if (shared)
        blocks = least(blocks, (uint64_t)gpu->shared_bytes / shared);
    if (most)
        blocks = least(blocks, most);
    return (uint32_t)blocks;
}

int occupancy_refuse(uint32_t launch, uint32_t threads, uint32_t registers, uint32_t shared, struct err *err)
{
    return err_set(err,
                   "launch %u: a block of %u threads, %u registers and %u bytes of shared memory does not fit on a "
                   "multiprocessor",
                   launch, threads, registers, shared);
}
