/* placement: the engine, and a set of tasks under one policy at one end of their bounds. */
#pragma once

#include "models/placement/placement_policy.h"
#include "replay/placement/placement_schedule.h"
#include "replay/placement/placement_tasks.h"
#include "replay/run/engine.h"

extern const struct engine engine_placement;

/* Choices, guideline 2, schedule. */
struct placement_set {
    struct placement_overheads *overheads; /* one per task, as the next two */
    struct schedule_task *tasks;
    enum placement *choice;
    struct schedule schedule;
    double overhead_ms; /* of the chosen placements */
    double overlap_ms;
    double bound_ms; /* no placements and no order end sooner (placement_schedule.h) */
};

/* Room for `count` tasks. Released after failure too. */
int placement_set_init(struct placement_set *set, size_t count, struct err *err);
void placement_set_release(struct placement_set *set);

/* Choose for every task and schedule. Where the policy follows guideline 2 and tasks run side by side, it applies, and
 * tasks are re-assigned by their neighbours if the set ends sooner for it. high takes the upper bounds. A schedule that
 * loses work is an error. */
int placement_set_run(struct placement_set *set, const struct placement_tasks *tasks, bool high,
                      const struct placement_policy *policy, const void *state, const struct placement_platform *hw,
                      struct placement_misses misses, bool corun, struct err *err);
