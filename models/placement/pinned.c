/* pinned: Every task gets host-pinned memory: nothing is copied; CPU and GPU caches are bypassed.
 *
 * Source: Bateni et al. 2020, section II-B. Differs: nothing known. */
#include "models/placement/placement_policy.h"

static enum placement choose(const void *state, const struct placement_overheads *overheads)
{
    (void)state;
    (void)overheads;
    return PLACEMENT_PINNED;
}

const struct placement_policy placement_pinned = {
    .head = {.name = "pinned",
             .summary = "every task in host-pinned memory: one buffer, caches bypassed",
             .source = "Bateni et al. 2020, section II-B"},
    .choose = choose,
    .needs_l2 = true};
