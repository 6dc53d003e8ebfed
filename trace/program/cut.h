/* cut: a program shortened to what can be simulated at length: some of its launches, of each some whole waves of
 * blocks.
 *
 * A wave is as many blocks as are resident on the GPU at once. The work of a launch is estimated as the sectors that
 * its warps' instructions touch, caches not regarded, from up to 16 blocks spread over it. If all launches together
 * touch more than asked for, each kernel keeps the same share of its work, whether its launches are large or small:
 * what is owed to it adds up from launch to launch, and where it comes to half of what is kept at once of its largest
 * launch, waves of the launch are kept for it, never more than the share of its waves, rounded up. They are kept by
 * threes, since the first and the last are unlike the others; singly where three are more than twice what is asked for.
 * The waves of a launch lie in up to four stretches in the middles of equal parts of it, so that neighbours stay
 * neighbours and neither beginning nor end weighs more than it does. Kernels of which nothing is kept so keep a wave
 * each, of the launch in which the middle of their work lies, those that do most first, until the kernels of which
 * something is kept do nine tenths of the work. Memory, blocks and launches themselves are unchanged. Worked example:
 * one launch of 100 waves, a fifth asked for: waves 10-14, 35-39, 60-64 and 85-89. Source: blocks sampled in whole
 * waves, as simulators of GPUs are run on parts of kernels. Differs: times and rates hold for the part, not for the
 * whole; what the work left out would have done to caches is its reader's (trace/program/rest.h).
 */
#ifndef TRACE_PROGRAM_CUT_H
#define TRACE_PROGRAM_CUT_H

#include "trace/program/program.h"

struct program_cut;

struct program_cut_facts {
    uint64_t launches, whole_launches;
    uint64_t blocks, whole_blocks;
    uint64_t sectors, whole_sectors; /* estimates */
    uint64_t launch_sectors;         /* of the launches that are kept, were they whole */
};

/* Keep about `sectors` of sector accesses (0: everything). resident: blocks of a launch at once on the whole GPU, at
 * least 1. The program must outlive the cut. NULL with *err set. */
struct program_cut *program_cut_new(const struct program *whole, uint64_t sectors,
                                    uint64_t (*resident)(const void *ctx, const struct program_launch *launch),
                                    const void *ctx, struct err *err);
void program_cut_free(struct program_cut *cut); /* NULL is allowed */

/* The shortened program; valid as long as the cut. */
const struct program *program_cut_program(const struct program_cut *cut);

struct program_cut_facts program_cut_facts(const struct program_cut *cut);

/* A launch of the whole program. */
struct program_cut_launch {
    uint32_t warps;                   /* of a block */
    uint32_t kernel;                  /* the first launch of its kernel */
    bool cpu;                         /* what the CPU does: not cut */
    uint64_t wave, blocks, waves;     /* blocks of a wave, of the launch; its waves */
    uint64_t waves_kept, blocks_kept; /* 0: the launch is left out */
    double sectors;                   /* of all of it, an estimate */
};

/* All *n of them, valid as long as the cut. */
const struct program_cut_launch *program_cut_launches(const struct program_cut *cut, uint32_t *n);

/* Number k of `kept` ones that are spread over n, 0 < kept <= n, k < kept: in up to four stretches, as much left out
 * before the first as behind the last and half of what is between two, rounded down. */
uint64_t program_cut_spread(uint64_t n, uint64_t kept, uint64_t k);

#endif
