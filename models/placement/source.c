/* source: Every task as its section says that its source placed it (source_policy), device memory where it says
 * nothing. So a mix of placements can be run as somebody else chose it, rule or no rule: no guideline, no neighbour
 * moves a task.
 *
 * Source: none; for sets of given placements, as Bateni et al. 2020, figures 3 and 4 and table II have them. */
#include "models/placement/placement_policy.h"

static enum placement choose(const void *state, const struct placement_overheads *overheads)
{
    (void)state;
    (void)overheads;
    return PLACEMENT_DEVICE;
}

const struct placement_policy placement_source = {
    .head = {.name = "source",
             .summary = "every task as its source_policy says, device memory where it says nothing",
             .source = "given placements: Bateni et al. 2020, figures 3 and 4, table II"},
    .choose = choose,
    .follows_source = true};
