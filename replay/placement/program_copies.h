/* program_copies: what is copied where a program's memory is copied: memory that the CPU has written before the first
 * kernel after it, memory that a kernel has written before the CPU touches it and at the end; whole allocations.
 *
 * Memory that is the GPU's in any case is never copied; scratch is not copied back.
 * Worked example: A written by the CPU, a kernel reads A and writes B (8 bytes each): A goes in, B comes back last. */
#ifndef REPLAY_PLACEMENT_PROGRAM_COPIES_H
#define REPLAY_PLACEMENT_PROGRAM_COPIES_H

#include "replay/placement/program_totals.h"

struct program_copies {
    int64_t in_bytes, in_copies;
    int64_t back_bytes, back_copies; /* all of them */
    int64_t last_bytes, last_copies; /* of them, at the end: nobody in the program waits for those */
    int64_t dirty_kernels;           /* kernels that find memory written by the CPU since the kernel before */
    int64_t dirty_bytes;             /* pages that those touch */
    uint64_t copied;                 /* allocations that ever are, bit by number */
};

void program_copies_count(struct program_copies *copies, const struct program_totals *totals);

#endif
