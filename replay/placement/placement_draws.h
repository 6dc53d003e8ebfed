/* placement_draws: what becomes of a set of tasks when the platform's uncertain numbers are drawn from their ranges
 * (models/base/platform.h), those of [placement] and of [gpu]: programs are run anew on every drawn GPU.
 *
 * CO is policy auto, D device, MO managed memory for all. Of each draw: mean response of CO over that of D and of MO,
 * side by side and in turn. And how far a task's time alone lies from that of the numbers as they stand: the error that
 * the ranges by themselves put into a prediction. */
#ifndef REPLAY_PLACEMENT_PLACEMENT_DRAWS_H
#define REPLAY_PLACEMENT_PLACEMENT_DRAWS_H

#include <stdint.h>

#include "models/base/platform.h"
#include "models/placement/overhead.h"

/* CO's mean response against another's, percent. */
struct placement_change {
    double stated, least, most; /* with the numbers as they stand; over the draws */
    uint32_t below;             /* draws in which it is below 0 */
};

/* |drawn time / stated time - 1| of a task alone, percent: geometric mean over draws, then over tasks; and the task
 * with the largest. */
struct placement_spread {
    double mean, worst;
};

enum { PLACEMENT_OVER_DEVICE, PLACEMENT_OVER_MANAGED, PLACEMENT_OVERS };

struct placement_draws {
    struct placement_change change[2][PLACEMENT_OVERS]; /* in turn, side by side */
    struct placement_spread spread[PLACEMENTS];
};

/* `draws` draws of the tasks in a file; lower bounds of what is bounded. cut: as the setting. Pinned memory's spread is
 * 0 where a task has no L2 figures. */
int placement_draws_run(struct placement_draws *out, const struct platform *platform, const char *path, uint32_t draws,
                        uint64_t seed, uint64_t cut, struct err *err);

#endif
