/* frfcfs: first ready, first come, first served, between the classes as within a bank.
 *
 * The rules are those of models/dram/scheduler/frfcfs_rules.h: each mode goes on while it hits open rows or is older.
 * Worked example: MEM reads wait at one bank only and are all older than the oldest PIM request: the other fifteen
 * banks are ready at once, the busy one only when its next request is a miss younger than the PIM request, or none is
 * left. Source: gupta-2025-f3fs section III; policy 2 with cap 0 of the artifact. Differs: a row 0 is a row like any
 * other (the artifact takes it for "none yet"). */
#include "models/dram/loop.h"
#include "models/dram/scheduler/frfcfs_rules.h"

static inline enum dram_leave frfcfs_leaves(void *state, const struct dram_channel *ch, dram_banks hits)
{
    if (!frfcfs_rules_leaves(state, ch, hits))
        return DRAM_STAY;
    frfcfs_rules_leave(state, ch->mode);
    return DRAM_LEAVE;
}

DRAM_LOOPS(frfcfs, .quiet = true, .needs_hits = true, .leaves = frfcfs_leaves, .served = frfcfs_rules_served,
           .stalled = frfcfs_rules_stalled, .asked = frfcfs_rules_asked)

const struct dram_policy dram_frfcfs = {
    .head = {.name = "frfcfs",
             .summary = "row hits first, then the oldest, between the classes as within a bank",
             .source = DRAM_ARTIFACT "dram_sched_pim_frfcfs",
             .state_size = sizeof(struct frfcfs_rules)},
    .loops = &frfcfs_loops};
