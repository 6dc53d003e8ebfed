/* frfcfs: first ready, first come, first served, between the classes as within a bank.
 *
 * The rules are those of models/dram/scheduler/frfcfs_rules.h: each mode goes on while it hits open rows or is older.
 * Worked example: MEM reads wait at one bank only and are all older than the oldest PIM request: the other fifteen
 * banks are ready at once, the busy one only when its next request is a miss younger than the PIM request, or none is
 * left. Source: gupta-2025-f3fs section III; policy 2 with cap 0 of the artifact. Differs: a row 0 is a row like any
 * other (the artifact takes it for "none yet"). */
#include "models/dram/dram_policy.h"
#include "models/dram/loop.h"
#include "models/dram/scheduler/frfcfs_rules.h"

struct frfcfs {
    int64_t none;
    struct frfcfs_rules rules;
};

static inline enum dram_leave frfcfs_leaves(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct frfcfs *p = state;
    if (!frfcfs_rules_leaves(&p->rules, ch, hits))
        return DRAM_STAY;
    frfcfs_rules_leave(&p->rules, ch->mode);
    return DRAM_LEAVE;
}

static inline dram_banks frfcfs_stalled(const void *state)
{
    const struct frfcfs *p = state;
    return p->rules.ready;
}

static inline bool frfcfs_asked(void *state, dram_banks banks)
{
    struct frfcfs *p = state;
    return frfcfs_rules_asked(&p->rules, banks);
}

static inline void frfcfs_served(void *state, const struct dram_channel *ch, enum dram_class class, uint32_t row,
                                 uint32_t seq)
{
    struct frfcfs *p = state;
    (void)ch;
    (void)seq;
    frfcfs_rules_served(&p->rules, class, row);
}

static const struct dram_hooks frfcfs_hooks = {
    .quiet = true,
    .needs_hits = true,
    .leaves = frfcfs_leaves,
    .served = frfcfs_served,
    .stalled = frfcfs_stalled,
    .asked = frfcfs_asked,
};

static void frfcfs_feed(struct dram_channel *ch, void *state, struct dram_feed *feed)
{
    dram_loop_feed(ch, &frfcfs_hooks, state, feed);
}

static int64_t frfcfs_step(struct dram_channel *ch, void *state, int64_t now)
{
    return dram_loop_step(ch, &frfcfs_hooks, state, now);
}

static const struct dram_loops frfcfs_loops = {frfcfs_feed, frfcfs_step, dram_push};

const struct dram_policy dram_frfcfs = {
    .head = {.name = "frfcfs",
             .summary = "row hits first, then the oldest, between the classes as within a bank",
             .source = "gupta-2025-f3fs section III; artifact GPGPU-Sim-4.0.1 (branch ISPASS_2025, commit 1eea352) "
                       "dram_sched_pim_frfcfs",
             .state_size = sizeof(struct frfcfs)},
    .loops = &frfcfs_loops};
