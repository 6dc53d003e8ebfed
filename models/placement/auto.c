/* auto: device memory unless guideline 1 lets a task go to managed (9) or pinned (10) memory, the smaller overhead
 * where both hold; among tasks that run side by side, guideline 2 (11) then takes conversions back, smallest margin
 * first, until managed and pinned kernels no longer outnumber device kernels.
 *
 * Worked example: overhead_test.c, guideline_9_from_both_sides_of_its_boundary.
 * Source: Bateni et al. 2020, section IV-B, equations 9 to 11.
 * Differs: the schedule may re-assign by the neighbour (replay/placement/placement_schedule.h). Where guideline 1
 * leaves no device kernel at all, the source's own choice (its drone) breaks (11); so do we.
 */
#include "models/placement/placement_policy.h"

static enum placement choose(const void *state, const struct placement_overheads *overheads)
{
    (void)state;
    return guideline_1(overheads);
}

const struct placement_policy placement_auto = {
    .head = {.name = "auto",
             .summary = "guidelines 9 to 11: managed or pinned where the loss can be recovered, else device",
             .source = "Bateni et al. 2020, section IV-B, equations 9 to 11"},
    .choose = choose,
    .yields = true};
