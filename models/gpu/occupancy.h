/* occupancy: how many thread blocks of a launch are resident on one multiprocessor at once, and how long they compute.
 *
 * The fewest of what threads, registers, shared memory and the limit of blocks allow: a block takes whole warps; a warp
 * takes registers in units of 256 (8 for each lane), or as the platform says. A number that is not known (0) limits
 * nothing.
 * Worked example, 64 warps, 65,536 registers, 96 KiB of shared memory: blocks of 256 threads with 40 registers take
 * 8 x 1,280 registers: 6 blocks by registers, 8 by warps: 6.
 * Source: NVIDIA CUDA programming guide, hardware multithreading; allocation unit of 256 registers a warp: its table of
 * technical specifications and occupancy calculator, compute capability 6.0 to 9.0. */
#pragma once

#include "models/gpu/gpu.h"
#include "trace/program/program.h"

/* Blocks of `threads` threads (1 to 1,024); registers of a thread, shared bytes of a block: 0 = not known; most: a
 * limit besides, 0 = none. 0 if not even one fits. */
uint32_t occupancy_blocks(const struct gpu *gpu, uint32_t threads, uint32_t registers, uint32_t shared, uint32_t most);

/* The same of a launch on `sms` multiprocessors, whose blocks some chips spread evenly (gpu.spread_blocks). */
uint32_t occupancy_resident(const struct gpu *gpu, const struct program_launch *launch, uint32_t sms);

/* Bytes of L1 that are left while `shared` bytes of shared memory are in use on a multiprocessor. The table
 * gpu.l1_carve is a list S:L of KiB, S ascending: L is left where up to S are in use; more than the last S leave its L.
 * Worked example, 0:128,8:120,96:32: 0 leaves 128 KiB, 1 byte 120 KiB, 9 KiB 32 KiB. -1 with *err set: no such list. */
int64_t occupancy_l1(const struct gpu *gpu, uint64_t shared, struct err *err);

/* Say in *err that not even one block of this launch fits; -1. */
int occupancy_refuse(uint32_t launch, uint32_t threads, uint32_t registers, uint32_t shared, struct err *err);

/* Time that a warp computes between two waits for memory, when its data is in GPU memory. All in ns.
 *
 * It is the longest of three: (1) its own chain: one memory access if the step loads anything, then dependent
 * instructions one by one; (2) issue: every running warp of the multiprocessor issues as many instructions; (3) device
 * memory: every running warp of the chip moves as many sectors. Worked example, GV100 at 1.455 GHz, 64 warps on each of
 * 80 multiprocessors, all running, 40 instructions and 16 sectors: (1) 296 + 40 x 4 / 1.455 = 406 ns; (2) 64 x 40 / (4
 * x 1.455) = 440 ns; (3) 5,120 x 16 x 32 B / 652.8 GB/s = 4,016 ns. Source: bounds by latency, issue and bandwidth for
 * equal warps (Little's law; Hong and Kim, ISCA 2009, figures 4 and 5). Differs: without caches; (1) takes one device
 * memory access for each step; (3) counts every sector once for each warp: an upper bound. */
struct issue {
    double load_ns;         /* an access to device memory */
    double l2_ns, l2_bytes; /* one that L2 answers; what it holds */
    double instruction_ns;  /* a dependent instruction */
    double crowd_ns;        /* one instruction of every resident warp of a multiprocessor */
    double sector_ns;       /* one sector for every resident warp of the chip */
};

/* warps: of the launch in all; per_sm: resident on a multiprocessor, at most. */
void issue_init(struct issue *issue, const struct gpu *gpu, uint64_t warps, uint64_t per_sm);

/* Time that a step waits: for pages, or for loads from `own_kib` KiB that the program keeps in GPU memory and rereads
 * while its pages pass. L2 holds as much of that as it can. Worked example, 50 MiB of L2, 133 and 421 ns: labels and
 * offsets of 12 MiB 133 ns, of 100 MiB 277. Neither: 0. */
static inline double issue_wait_ns(const struct issue *i, bool pages, uint32_t own_kib)
{
    if (pages || !own_kib)
        return pages ? i->load_ns : 0;
    double share = i->l2_bytes / (own_kib * 1024.0);
    return share < 1 ? share * i->l2_ns + (1 - share) * i->load_ns : i->l2_ns;
}

/* wait_ns: for memory in this step. running: the share of the resident warps that compute, 0 to 1;
 * the others wait, and take nothing of what all share. */
static inline double issue_ns(const struct issue *i, uint32_t instructions, uint32_t sectors, double wait_ns,
                              double running)
{
    double own = wait_ns + i->instruction_ns * instructions;
    double crowd = running * i->crowd_ns * instructions, memory = running * i->sector_ns * sectors;
    double most = own > crowd ? own : crowd;
    return most > memory ? most : memory;
}
