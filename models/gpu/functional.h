/* functional: a program through the L1 of each multiprocessor and the L2, without time: what it makes of DRAM, launch
 * by launch.
 *
 * Blocks are resident as the multiprocessors place them (models/gpu/sms.h); every warp does one memory instruction,
 * then the next, one multiprocessor after the other; a barrier holds it until its block is there, and a block that ends
 * makes room for the next on its multiprocessor. A miss is answered at once. So hit rates and traffic follow from the
 * program and the caches, and only the order of warps is a guess: where they depend on it, two rounds of it differ.
 * Blocks of one multiprocessor often end in the same round; then it gets neighbouring ones, whose common lines L1 has.
 * With time they go to different multiprocessors, in turn (in_turn says so here too).
 * Camping is the share of DRAM reads that go to the channel that is busiest at the time, times the channels: of each
 * stretch of so many instructions the busiest channel's, of all reads. 1: all alike; the number of channels: one at a
 * time. Worked example, 4 channels, a stretch of 10, 2, 2 and 2 reads, another of 0, 0, 4 and 0: 4 x 14 / 20 = 2.8.
 * Source: the mechanism of sms.h and l2.h with every answer at once.
 * Differs: a launch that reads what the host has copied since the program began finds it in DRAM. */
#ifndef MODELS_GPU_FUNCTIONAL_H
#define MODELS_GPU_FUNCTIONAL_H

#include "models/gpu/gpu.h"
#include "models/gpu/l2.h"
#include "trace/program/program.h"

struct functional_counts {
    uint64_t instructions, loads, load_sectors, hits; /* with an active lane; loads and their sectors, found in L1 */
    uint64_t reads, writes, atomics;                  /* packets, a sector each */
    uint64_t read_hits;                               /* reads and atomics that L2 had */
    uint64_t dram_reads;                              /* sectors */
    uint64_t lines_back, sectors_back;                /* written back: lines, and their sectors */
    double camp;                                      /* 0: no DRAM read */
};

struct functional {
    const struct gpu *gpu;         /* its numbers */
    const struct program *program; /* of accesses of kinds read, write and atomic */
    uint32_t sms;
    const struct l2_shape *l2;
    uint64_t channel_bits; /* address bits that say which channel */
    uint64_t stretch;      /* instructions; camping; 0: a launch */
    uint64_t launches;     /* at most; 0: all */
    bool to_the_end;       /* each warp to its end instead of taking turns */
    bool
        in_turn; /* places are filled after a round, one of each multiprocessor in turn; else where a block has ended */
    /* After each launch. */
    int (*launch)(void *ctx, uint32_t number, const struct program_launch *shape,
                  const struct functional_counts *counts, struct err *err);
    void *ctx;
};

/* L2 begins with what copies leave of the allocations that the host has written. -1 with *err set. */
int functional_run(const struct functional *how, struct err *err);

#endif
