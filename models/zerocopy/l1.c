#include "models/zerocopy/l1.h"

#include <math.h>

#include "models/zerocopy/warp.h"

/* Loads issued together: nvcc unrolls such loops by four (measured: H200, CUDA 13.0, machine code). */
enum { GROUP_LOADS = 4 };

/* Of 256 KiB L1 and shared memory a kernel can have 228 KB as shared memory: H100 architecture white paper, table 2. */
static const double shared_share = 228.0 / 256;

double l1_resident_blocks(const struct gpu *gpu, double warps, double blocks_per_sm)
{
    double fit = floor((double)gpu->warps_per_sm / warps);
    fit = fmax(1, fmin(fit, (double)gpu->blocks_per_sm));
    return blocks_per_sm > 0 ? fmin(fit, blocks_per_sm) : fit;
}

/* p = 1 - exp(-x p), the solution above 0 where there is one. */
static double lost(double x)
{
    if (x <= 1)
        return 0;
    double p = 1;
    for (int i = 0; i < 200; i++)
        p = 1 - exp(-x * p);
    return p;
}

static double fetches(const struct pcie *p, double strength, double load, double sector_loads)
{
    double groups = ceil(sector_loads / GROUP_LOADS), gone = lost(strength * load);
    double within = 1 - exp(-p->l1_group * load * gone);
    return 1 + (groups - 1) * gone + (sector_loads - groups) * within;
}

double l1_fetches(const struct pcie *p, const struct gpu *gpu, const struct l1_kernel *k)
{
    if (p->l1_steady <= 0)
        return 1;
    double fit = l1_resident_blocks(gpu, k->warps, 0), resident = l1_resident_blocks(gpu, k->warps, k->blocks_per_sm);
    double shared = resident < fit ? shared_share * (double)gpu->l1_bytes : resident * (double)p->l1_block_bytes;
    double lines = ((double)gpu->l1_bytes - shared) / LINE_BYTES;
    double per_sm = fmin(resident, ceil(k->blocks / (double)gpu->sms));
    double load = per_sm * k->warps * k->lines_per_warp / fmax(lines, 1);
    double steady = fetches(p, p->l1_steady, load, k->sector_loads);
    double first = fmin(1, per_sm * (double)gpu->sms / fmax(k->blocks, 1));
    return first * fetches(p, fmax(p->l1_together, p->l1_steady), load, k->sector_loads) + (1 - first) * steady;
}
