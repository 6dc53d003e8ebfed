#include "models/gpu/issue.h"

enum { SECTOR = 32 };

void issue_init(struct issue *issue, const struct gpu *gpu, uint64_t warps, uint64_t per_sm)
{
    double cycle_ns = 1e9 / (double)gpu->clock_hz;
    uint64_t sms = (uint64_t)gpu->sms, share = (warps + sms - 1) / sms;
    uint64_t resident = share < per_sm ? share : per_sm, chip = warps < sms * per_sm ? warps : sms * per_sm;
    issue->load_ns = gpu->memory_ns;
    issue->instruction_ns = gpu->dependent_cycles * cycle_ns;
    issue->crowd_ns = (double)resident / gpu->issue_per_cycle * cycle_ns;
    issue->sector_ns = (double)chip * SECTOR / gpu->dram_bytes_per_s * 1e9;
}
