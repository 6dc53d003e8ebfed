/* launch_part: what some of a GPU's multiprocessors get of a launch, as a program of that one launch.
 *
 * Blocks go to the multiprocessors in turn, so of n multiprocessors number r gets blocks r, r + n, r + 2 n, ..; a part
 * is the blocks of some r, in their order. So neighbours of a block are the blocks that run beside it on the whole GPU.
 * Worked example: 300 blocks, 132 multiprocessors, parts 0 and 40: blocks 0, 40, 132, 172, 264.
 * Source: systematic sampling in clusters. Differs: on a real GPU later blocks go to whichever multiprocessor is done
 * first; within a part they do. */
#ifndef MODELS_ZEROCOPY_LAUNCH_PART_H
#define MODELS_ZEROCOPY_LAUNCH_PART_H

#include "models/zerocopy/launch_tally.h"

struct launch_part {
    const struct program *whole;
    void *run; /* of the whole, not closed here */
    uint32_t launch, sms;
    struct program_launch shape; /* of the whole launch */
    uint32_t kept;               /* multiprocessors of the part */
    uint32_t of[PART_SMS];       /* ascending */
    struct program program;      /* the part: valid while the struct stays where it is */
};

/* `kept` of `sms` multiprocessors, sms / kept apart, from `first` < sms / kept on; the caller may put others in of[],
 * ascending. */
void launch_part_init(struct launch_part *part, const struct program *whole, void *run, uint32_t launch, uint32_t sms,
                      uint32_t kept, uint32_t first);

#endif
