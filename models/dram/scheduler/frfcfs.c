/* frfcfs: first ready, first come, first served, between the classes as within a bank.
 *
 * The rules are those of models/dram/scheduler/frfcfs_rules.h: each mode goes on while it hits open rows or is older.
 * Worked example: MEM reads wait at one bank only and are all older than the oldest PIM request: the other fifteen
 * banks are ready at once, the busy one only when its next request is a miss younger than the PIM request, or none is
 * left. Source: gupta-2025-f3fs section III; policy 2 with cap 0 of the artifact. Differs: a row 0 is a row like any
 * other (the artifact takes it for "none yet"). */
#include "models/dram/dram_policy.h"
#include "models/dram/scheduler/frfcfs_rules.h"

struct frfcfs {
    int64_t none;
    struct frfcfs_rules rules;
};

enum { frfcfs_needs_hits = 1 };
DRAM_PLAIN_LIMITS(frfcfs)
FRFCFS_RULES_SELECTION(frfcfs)
FRFCFS_RULES_SERVED(frfcfs)

static inline enum dram_leave frfcfs_leaves(struct frfcfs *p, const struct dram_channel *ch, unsigned hits)
{
    if (!frfcfs_rules_leaves(&p->rules, ch, hits))
        return DRAM_STAY;
    frfcfs_rules_leave(&p->rules, ch->mode);
    return DRAM_LEAVE;
}

#define DRAM_LOOP_POLICY frfcfs
#include "models/dram/loop.h"

const struct dram_policy dram_frfcfs = {
    .head = {.name = "frfcfs",
             .summary = "row hits first, then the oldest, between the classes as within a bank",
             .source = "gupta-2025-f3fs section III; artifact GPGPU-Sim-4.0.1 (branch ISPASS_2025, commit 1eea352) "
                       "dram_sched_pim_frfcfs",
             .state_size = sizeof(struct frfcfs)},
    .loops = &frfcfs_loops};
