/* managed: Every task gets managed memory: nothing is copied; pages are mapped at kernel start and caches flushed
 * around it.
 *
 * Source: Bateni et al. 2020, section II-B. Differs: nothing known. */
#include "models/placement/placement_policy.h"

static enum placement choose(const void *state, const struct placement_overheads *overheads)
{
    (void)state;
    (void)overheads;
    return PLACEMENT_MANAGED;
}

const struct placement_policy placement_managed = {
    .head = {.name = "managed",
             .summary = "every task in managed memory: one buffer, mapped at first touch, caches flushed",
             .source = "Bateni et al. 2020, section II-B"},
    .choose = choose};
