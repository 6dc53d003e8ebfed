/* cut: a program shortened to what can be simulated: some of its launches, of each some whole waves of blocks.
 *
 * A wave is as many blocks as are resident on the GPU at once. The work of a launch is estimated as the sectors that
 * its warps' instructions touch, caches not regarded, from up to 16 blocks spread over it. If all launches together
 * touch more than asked for, each kernel keeps the same share of its work: what is owed to it adds up from launch to
 * launch, and where it comes to half of what is kept at once of its largest launch, waves of the launch are kept for
 * it, never more than the share of its waves, rounded up. They are kept by threes, since the first and the last are
 * unlike the others; singly where three are more than twice what is asked for. The waves of a launch lie in up to four
 * stretches in the middles of equal parts of it. Kernels of which nothing is kept so keep a wave each, of the launch in
 * which the middle of their work lies, those that do most first, until the kernels of which something is kept do nine
 * tenths of the work.
 * Worked example: one launch of 100 waves, a fifth asked for: waves 10-14, 35-39, 60-64 and 85-89.
 * Source: blocks sampled in whole waves, as simulators of GPUs are run on parts of kernels.
 * Differs: times and rates hold for the part, not for the whole; what the work left out would have done to caches is
 * its reader's (the rest, below). */
#pragma once

#include "trace/program/warp_slice.h"

struct program_cut_facts {
    uint64_t launches, whole_launches;
    uint64_t blocks, whole_blocks;
    uint64_t sectors, whole_sectors; /* estimates */
    uint64_t launch_sectors;         /* of the launches that are kept, were they whole */
};

/* A launch of the whole program. */
struct program_cut_launch {
    uint32_t warps;                   /* of a block */
    uint32_t kernel;                  /* the first launch of its kernel */
    bool cpu;                         /* what the CPU does: not cut */
    uint64_t wave, blocks, waves;     /* blocks of a wave, of the launch; its waves */
    uint64_t waves_kept, blocks_kept; /* 0: the launch is left out */
    double sectors;                   /* of all of it, an estimate */
};

struct program_cut {
    struct program_adapter adapter;
    struct program_cut_launch *launch; /* every launch of the whole program */
    uint32_t *kept;                    /* numbers of those that are kept, ascending */
    uint32_t launches, kept_count;
    struct program_cut_facts facts;
};

/* Keep about `sectors` of sector accesses (0: everything). resident: blocks of a launch at once on the whole GPU, at
 * least 1. NULL with *err set. */
struct program_cut *program_cut_new(const struct program *whole, uint64_t sectors,
                                    uint64_t (*resident)(const void *ctx, const struct program_launch *launch),
                                    const void *ctx, struct err *err);
void program_cut_free(struct program_cut *cut); /* NULL is allowed */

/* Number k of `kept` ones that are spread over n, 0 < kept <= n, k < kept: in up to four stretches, as much left out
 * before the first as behind the last and half of what is between two, rounded down. */
uint64_t program_cut_spread(uint64_t n, uint64_t kept, uint64_t k);

/* --- the rest: what a cut leaves out, as a program ---
 *
 * Its launches are parts of launches of the whole program, in their order: waves of blocks between two stretches that
 * are kept, or whole launches. Those between two kept stretches, of one launch or of two, are a gap; it is passed when
 * the kept program comes to its point: before block `block` of kept launch `launch`, or, where that is the number of
 * kept launches, at the end. Of a gap that is longer than asked for only the end is there, in whole waves: enough for
 * what a cache holds after it. What the CPU does is no part of it. Worked example: two launches of 100 waves of one
 * block, a fifth kept (waves 10-14, 35-39, 60-64, 85-89): gaps at blocks 0, 5, 10 and 15 of launch 0 (10, 20, 20 and
 * 20 waves), of launch 1 (25, 20, 20, 20) and at the end (10). */

struct program_rest_point {
    uint32_t launch; /* of the kept ones */
    uint64_t block;  /* of its kept blocks */
};

/* A launch of the rest: blocks first, first + 1 .. of a launch; all of their warps, or heads or tails of a kept wave's.
 */
struct program_rest_part {
    uint32_t launch, gap; /* gaps do not descend */
    uint64_t first, blocks;
    enum warp_slice_part of; /* PROGRAM_KEPT: all */
    uint32_t kept;           /* heads, tails: kept launch; */
    uint64_t kept_block;     /* the first block in it */
};

struct program_rest {
    struct program_adapter adapter; /* its program may have no launch at all */
    const struct program_cut *cut;
    const struct warp_slice *middle;
    struct program_rest_part *part;
    size_t parts, part_cap;
    struct program_rest_point *point; /* of each gap, ascending */
    size_t point_cap;
    uint32_t gaps;
};

/* whole: what was cut; it and the cut must outlive the rest. sectors: of a gap, about so many sector accesses from its
 * end, by the cut's estimates, a wave at least. middle: of the cut's program, if its warps are themselves cut
 * (trace/program/warp_slice.h; else NULL): the heads of a kept wave are the end of the gap before it, its tails the
 * beginning of the one behind it; it must outlive the rest too. to_the_end: with the gap at the end, which only a
 * program that begins again comes behind. NULL with *err set. */
struct program_rest *program_rest_new(const struct program *whole, const struct program_cut *cut, uint64_t sectors,
                                      const struct warp_slice *middle, bool to_the_end, struct err *err);
void program_rest_free(struct program_rest *rest); /* NULL is allowed */
