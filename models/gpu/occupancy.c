#include "models/gpu/occupancy.h"

#include <stdlib.h>

enum { LANES = 32, KIB = 1024 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint32_t occupancy_blocks(const struct gpu *gpu, uint32_t threads, uint32_t registers, uint32_t shared, uint32_t most)
{
    uint64_t warps = (threads + LANES - 1) / LANES;
    uint64_t blocks = least((uint64_t)gpu->blocks_per_sm, (uint64_t)gpu->warps_per_sm / warps);
    if (registers) {
        uint64_t unit = (uint64_t)gpu->register_unit;
        uint64_t of_warp = (registers * (uint64_t)LANES + unit - 1) / unit * unit;
        blocks = least(blocks, (uint64_t)gpu->registers_per_sm / (of_warp * warps));
    }
    if (shared)
        blocks = least(blocks, (uint64_t)gpu->shared_bytes / shared);
    if (most)
        blocks = least(blocks, most);
    return (uint32_t)blocks;
}

uint32_t occupancy_resident(const struct gpu *gpu, const struct program_launch *l, uint32_t sms)
{
    uint32_t blocks = occupancy_blocks(gpu, l->threads, l->registers, l->shared, l->blocks_most);
    uint64_t share = (l->blocks + sms - 1) / sms;
    return gpu->spread_blocks ? (uint32_t)least(blocks, share) : blocks;
}

int64_t occupancy_l1(const struct gpu *gpu, uint64_t shared, struct err *err)
{
    if (!gpu->l1_carve || !*gpu->l1_carve) /* of a platform that does not say: empty */
        return gpu->l1_bytes > (int64_t)shared ? gpu->l1_bytes - (int64_t)shared : 0;
    unsigned long long before = 0, left = 0;
    bool found = false;
    const char *p = gpu->l1_carve;
    for (bool more = true; more; p++) {
        char *colon, *end = NULL;
        unsigned long long in_use = strtoull(p, &colon, 10), l1 = 0;
        bool good = colon != p && *colon == ':' && (p == gpu->l1_carve || in_use > before);
        if (good)
            l1 = strtoull(colon + 1, &end, 10);
        if (!good || end == colon + 1 || (*end && *end != ','))
            return err_set(err, "l1_carve is '%s'; expected KiB of shared memory and of L1, as 0:128,8:120,96:32",
                           gpu->l1_carve);
        left = found ? left : l1;
        found |= shared <= in_use * KIB;
        before = in_use;
        more = *end;
        p = end;
    }
    return (int64_t)(left * KIB);
}

int occupancy_refuse(uint32_t launch, uint32_t threads, uint32_t registers, uint32_t shared, struct err *err)
{
    return err_set(err,
                   "launch %u: a block of %u threads, %u registers and %u bytes of shared memory does not fit on a "
                   "multiprocessor",
                   launch, threads, registers, shared);
}

enum { SECTOR = 32 };

void issue_init(struct issue *issue, const struct gpu *gpu, uint64_t warps, uint64_t per_sm)
{
    double cycle_ns = 1e9 / (double)gpu->clock_hz;
    uint64_t sms = (uint64_t)gpu->sms, share = (warps + sms - 1) / sms;
    uint64_t resident = share < per_sm ? share : per_sm, chip = warps < sms * per_sm ? warps : sms * per_sm;
    issue->load_ns = gpu->memory_ns;
    issue->l2_ns = (double)gpu->l2_cycles * cycle_ns;
    issue->l2_bytes = (double)gpu->l2_bytes;
    issue->instruction_ns = gpu->dependent_cycles * cycle_ns;
    issue->crowd_ns = (double)resident / gpu->issue_per_cycle * cycle_ns;
    issue->sector_ns = (double)chip * SECTOR / gpu->dram_bytes_per_s * 1e9;
}
