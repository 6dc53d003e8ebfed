/* program_hits: how much of what a program accesses its GPU's L2 serves; a run of its warps through models/gpu/l2.h.
 *
 * As many blocks as are resident take turns, one instruction of each warp after the other (trace/program/walk.h). A
 * loaded sector is a hit if the cache has it; a stored one always, as the cache takes it and fetches nothing. Only
 * managed memory counts, all memory has its place in the cache.
 * A program of more than `cut` memory instructions is run in part: of each kernel the same share of its blocks, rounded
 * up to whole waves of resident blocks; where that is a single wave and still more than the kernel's share, of each
 * loop the first turns. What is left out counts as what was run. Example: cut 1,000 of 4,000 instructions in 8 blocks,
 * 2 resident: one wave, all of it. With 8 resident: the wave is all 8 blocks, and every loop ends after a quarter of
 * its turns. Differs: no L1 stands before the L2, so what an L1 would serve counts as an access to the L2, mostly a
 * hit; phases of the CPU pass the cache by. */
#ifndef REPLAY_PLACEMENT_PROGRAM_HITS_H
#define REPLAY_PLACEMENT_PROGRAM_HITS_H

#include "replay/placement/program_totals.h"

struct program_hits {
    uint64_t sectors, hits; /* of managed memory */
    uint64_t instructions;  /* that were run, all memory */
    bool cut;               /* not all of them */
};

/* cut: 0: none. totals: of the same program. */
int program_hits_run(struct program_hits *hits, const struct program *program, const struct program_totals *totals,
                     const struct gpu *gpu, uint64_t cut, struct err *err);

#endif
