/* frfcfs: first ready, first come, first served, between the classes as within a bank.
 *
 * The rules are those of models/dram/scheduler/frfcfs_rules.h: each mode goes on while it hits open rows or is older.
 * Worked example: MEM reads wait at one bank only and are all older than the oldest PIM request: the other fifteen
 * banks are ready at once, the busy one only when its next request is a miss younger than the PIM request, or none is
 * left. Source: gupta-2025-f3fs section III; policy 2 with cap 0 of the artifact. Differs: a row 0 is a row like any
 * other (the artifact takes it for "none yet"). */
#include "models/dram/loop.h"
#include "models/dram/scheduler/frfcfs_rules.h"

static inline enum dram_switch frfcfs_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    if (!frfcfs_rules_switch(state, ch, hits))
        return DRAM_STAY;
    frfcfs_rules_end_phase(state, ch->mode);
    return DRAM_SWITCH;
}

DRAM_LOOPS(frfcfs, .skip_mem_only = true, .needs_hits = true, .switch_mode = frfcfs_switch_mode,
           .on_issue = frfcfs_rules_on_issue, .stalled_banks = frfcfs_rules_stalled_banks,
           .on_scan = frfcfs_rules_on_scan)

const struct dram_policy dram_frfcfs = {
    .head = {.name = "frfcfs",
             .summary = "row hits first, then the oldest, between the classes as within a bank",
             .source = DRAM_ARTIFACT "dram_sched_pim_frfcfs",
             .state_size = sizeof(struct frfcfs_rules)},
    .loops = &frfcfs_loops};
