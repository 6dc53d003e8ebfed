/* gather-issue: PIM requests gather to a high watermark and are then issued down to a low one.
 *
 * PIM mode ends when fewer than `low` PIM requests wait and a MEM request waits; it begins when `high` wait, or when
 * only PIM requests wait.
 * Worked example: high 56, low 32, MEM always waiting: PIM mode begins with 56 waiting and ends with 31.
 * Source: gupta-2025-f3fs section III (the gather-and-issue scheme it evaluates); policy 5 of the artifact.
 * Differs: the text names the watermarks only; that PIM also goes when no MEM waits is the artifact's. */
#include "models/dram/loop.h"
#include "trace/base/param.h"

struct gather_issue {
    int64_t high, low; /* waiting PIM requests */
};

static const struct param params[] = {
    PARAM_INT_ROW(gather_issue, high, "requests", 1, 64, 56, "waiting PIM requests that begin a PIM phase"),
    PARAM_INT_ROW(gather_issue, low, "requests", 0, 64, 32, "a PIM phase ends when fewer wait"),
    {0}};

static inline enum dram_switch gather_issue_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct gather_issue *p = state;
    (void)hits;
    const int32_t mem = ch->waiting[DRAM_MEM], pim = ch->waiting[DRAM_PIM];
    if (ch->mode == DRAM_PIM)
        return pim < p->low && mem ? DRAM_SWITCH : DRAM_STAY;
    return pim >= p->high || (!mem && pim) ? DRAM_SWITCH : DRAM_STAY;
}

static int check(const void *state, struct err *err)
{
    const struct gather_issue *p = state;
    if (p->low > p->high)
        return err_set(err, "gather-issue: low is %lld, above high, %lld", (long long)p->low, (long long)p->high);
    return 0;
}

DRAM_LOOPS(gather_issue, .skip_mem_only = true, .switch_mode = gather_issue_switch_mode)

const struct dram_policy dram_gather_issue = {
    .head = {.name = "gather-issue",
             .summary = "PIM requests gather to a high watermark, then issue down to a low one",
             .source = DRAM_ARTIFACT "dram_sched_gi.cc",
             .params = params,
             .state_size = sizeof(struct gather_issue)},
    .loops = &gather_issue_loops,
    .check = check};
