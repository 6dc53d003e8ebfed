/* issue: how long a warp computes between two waits for memory, when its data is in GPU memory.
 *
 * The longest of three times: (1) its own chain: one access to memory if the step loads anything, then one dependent
 * instruction after the other; (2) issue: every warp of the multiprocessor that runs does as much, and so many
 * instructions are issued in a cycle; (3) device memory: every warp of the chip that runs moves as many sectors.
 * Worked example, GV100 at 1.455 GHz, 64 warps on each of 80 multiprocessors, all running, 40 instructions and 16
 * sectors: (1) 296 + 40 x 4 / 1.455 = 406 ns; (2) 64 x 40 / (4 x 1.455) = 440 ns; (3) 5,120 x 16 x 32 B / 652.8 GB/s =
 * 4,016 ns.
 * Source: bounds by latency, issue and bandwidth for equal warps (Little's law; Hong and Kim, ISCA 2009, figures 4 and
 * 5, is the same distinction).
 * Differs: caches are not simulated here, so (1) takes one access to device memory for each step whatever it hits, and
 * (3) counts every sector that the instructions of a warp touch once for each warp: an upper bound of the traffic. */
#ifndef MODELS_GPU_ISSUE_H
#define MODELS_GPU_ISSUE_H

#include "models/gpu/gpu.h"

/* For one launch. All in ns. */
struct issue {
    double load_ns;        /* an access to device memory */
    double instruction_ns; /* a dependent instruction */
    double crowd_ns;       /* one instruction of every resident warp of a multiprocessor */
    double sector_ns;      /* one sector for every resident warp of the chip */
};

/* warps: of the launch in all; per_sm: resident on a multiprocessor, at most. */
void issue_init(struct issue *issue, const struct gpu *gpu, uint64_t warps, uint64_t per_sm);

/* loads: whether the warp waits for memory in this step. running: the share of the resident warps that compute, 0 to 1;
 * the others wait, and take nothing of what all share. */
static inline double issue_ns(const struct issue *i, uint32_t instructions, uint32_t sectors, bool loads,
                              double running)
{
    double own = (loads ? i->load_ns : 0) + i->instruction_ns * instructions;
    double crowd = running * i->crowd_ns * instructions, memory = running * i->sector_ns * sectors;
    double most = own > crowd ? own : crowd;
    return most > memory ? most : memory;
}

#endif
