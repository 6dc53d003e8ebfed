/* frfcfs-cap: frfcfs, and a mode may pass an older request of the other class for `cap` cycles at most.
 *
 * The counter starts at 0 with every phase. PIM mode, both waiting and a PIM request served in this phase: a cycle in
 * which some bank's oldest MEM request is older than the oldest PIM request counts. MEM mode, both waiting: a cycle in
 * which the oldest PIM request is older than every bank's oldest MEM counts. Above `cap` the mode ends.
 * Worked example: cap 32, always counting: the 33rd counted cycle ends the mode.
 * Source: policy 2 of the artifact with a cap, which counts DRAM cycles.
 * Differs: gupta-2025-f3fs section III says "row buffer hits that bypass the oldest request"; MEM row hits that pass
 * older MEM requests are not limited, as in the artifact. */
#include "models/dram/loop.h"
#include "models/dram/scheduler/frfcfs_rules.h"
#include "trace/base/param.h"

struct frfcfs_cap {
    struct frfcfs_rules rules;
    int64_t cap; /* cycles */
    int64_t count;
};

static const struct param params[] = {
    PARAM_INT_ROW(frfcfs_cap, cap, "cycles", 1, 1e12, 32, "cycles that a mode may pass an older request of the other"),
    {0}};

/* Whether this cycle counts. */
static inline bool frfcfs_cap_counts(const struct frfcfs_cap *p, const struct dram_channel *ch)
{
    if (!ch->waiting[DRAM_MEM] || !ch->waiting[DRAM_PIM])
        return false;
    return ch->mode == DRAM_PIM ? p->rules.row && ch->older : !ch->older;
}

static inline enum dram_switch frfcfs_cap_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct frfcfs_cap *p = state;
    enum dram_switch answer = DRAM_SWITCH;
    if (!frfcfs_rules_switch(&p->rules, ch, hits)) {
        p->count += frfcfs_cap_counts(p, ch);
        if (p->count <= p->cap || !ch->waiting[DRAM_MEM] || !ch->waiting[DRAM_PIM] ||
            (ch->mode == DRAM_PIM && !p->rules.row))
            return DRAM_STAY;
        answer = DRAM_SWITCH_CAP;
    }
    frfcfs_rules_end_phase(&p->rules, ch->mode);
    p->count = 0;
    return answer;
}

static inline void frfcfs_cap_advance(void *state, const struct dram_channel *ch, int64_t n)
{
    struct frfcfs_cap *p = state;
    if (frfcfs_cap_counts(p, ch))
        p->count += n;
}

static inline int64_t frfcfs_cap_next_change(void *state, const struct dram_channel *ch, int64_t now)
{
    struct frfcfs_cap *p = state;
    return frfcfs_cap_counts(p, ch) ? now + 1 + (p->cap > p->count ? p->cap - p->count : 0) : INT64_MAX;
}

DRAM_LOOPS(frfcfs_cap, .skip_mem_only = true, .needs_hits = true, .switch_mode = frfcfs_cap_switch_mode,
           .on_issue = frfcfs_rules_on_issue, .stalled_banks = frfcfs_rules_stalled_banks,
           .on_scan = frfcfs_rules_on_scan, .advance = frfcfs_cap_advance, .next_change = frfcfs_cap_next_change)

const struct dram_policy dram_frfcfs_cap = {
    .head = {.name = "frfcfs-cap",
             .summary = "frfcfs with a cap on the cycles that a mode passes an older request",
             .source = "artifact GPGPU-Sim-4.0.1 (branch ISPASS_2025, commit 1eea352) "
                       "dram_sched_pim_frfcfs with a cap; gupta-2025-f3fs section III",
             .params = params,
             .state_size = sizeof(struct frfcfs_cap)},
    .loops = &frfcfs_cap_loops};
