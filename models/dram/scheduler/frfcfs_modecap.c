/* frfcfs-modecap: frfcfs, and a mode serves `cap` requests at most while the other class waits.
 *
 * The middle step of the paper's ablation: the cap counts the requests served in the current mode, not row hits. The
 * count starts at 0 with every phase; a mode ends when it is at least `cap` and the other class waits.
 * Worked example: cap 64, stream-add PIM (blocks of 16 requests per row) against MEM requests that are all younger: a
 * PIM phase serves 64 requests, four blocks.
 * Source: gupta-2025-f3fs section VII, ablation study, step "+Mode Cap" (figure 14a).
 * Differs: the artifact no longer holds that policy (PAWS with a fixed cap of 64); this follows the text. */
#include "models/dram/loop.h"
#include "models/dram/scheduler/frfcfs_rules.h"
#include "trace/base/param.h"

struct frfcfs_modecap {
    struct frfcfs_rules rules;
    int64_t cap; /* requests */
    int64_t count;
};

static const struct param params[] = {
    PARAM_INT_ROW(frfcfs_modecap, cap, "requests", 1, 1e12, 64, "requests of one mode while the other class waits"),
    {0}};

static inline enum dram_switch frfcfs_modecap_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct frfcfs_modecap *p = state;
    const bool left = frfcfs_rules_switch(&p->rules, ch, hits);
    if (!left && (p->count < p->cap || !ch->waiting[DRAM_MEM] || !ch->waiting[DRAM_PIM]))
        return DRAM_STAY;
    frfcfs_rules_end_phase(&p->rules, ch->mode);
    p->count = 0;
    return left ? DRAM_SWITCH : DRAM_SWITCH_CAP;
}

static inline void frfcfs_modecap_on_issue(void *state, const struct dram_channel *ch, enum dram_class class,
                                           uint32_t row, uint32_t seq)
{
    struct frfcfs_modecap *p = state;
    frfcfs_rules_on_issue(p, ch, class, row, seq);
    p->count++;
}

static inline void frfcfs_modecap_on_mem_only(void *state, int64_t issued)
{
    struct frfcfs_modecap *p = state;
    p->count += issued;
}

DRAM_LOOPS(frfcfs_modecap, .skip_mem_only = true, .needs_hits = true, .switch_mode = frfcfs_modecap_switch_mode,
           .on_issue = frfcfs_modecap_on_issue, .on_mem_only = frfcfs_modecap_on_mem_only,
           .stalled_banks = frfcfs_rules_stalled_banks, .on_scan = frfcfs_rules_on_scan)

const struct dram_policy dram_frfcfs_modecap = {
    .head = {.name = "frfcfs-modecap",
             .summary = "frfcfs with a cap on the requests that a mode serves",
             .source = "gupta-2025-f3fs section VII, ablation study (figure 14a, +Mode Cap)",
             .params = params,
             .state_size = sizeof(struct frfcfs_modecap)},
    .loops = &frfcfs_modecap_loops};
