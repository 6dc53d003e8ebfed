/* f3fs: first mode, first ready, first come, first served: the current mode goes on, up to a cap.
 *
 * A mode ends when it has no request waiting and the other has, or when it passed older requests of the other class up
 * to its cap. Within a mode banks serve row hits first, then the oldest; there is no stalling and no row rule.
 * count=cycles (the artifact): a cycle counts in which both wait and the oldest of the other class is older than the
 * oldest of this one (in PIM mode: some bank's oldest MEM is older than the oldest PIM; in MEM mode: the oldest PIM is
 * older than every bank's oldest MEM). The mode ends when the count is above the cap, so in the cap + 1st counted
 * cycle. count=requests (the paper's text): a selection counts that is younger than the oldest waiting request of the
 * other class; the mode ends when the count reaches the cap. The count starts at 0 with every phase. A cap of 0 is
 * none. Worked example: caps of 256, stream-add PIM (0.25 requests per cycle) with an older MEM request waiting: the
 * phase ends after 257 counted cycles, about 64 requests; with count=requests after 256 requests. Source:
 * gupta-2025-f3fs section V; policy 4 of the artifact. Differs: nothing known. */
#include "models/dram/loop.h"
#include "trace/base/param.h"

struct f3fs {
    int64_t mem_cap, pim_cap;
    int64_t count; /* 0: cycles, 1: requests */
    int64_t passed;
};

static const struct param params[] = {
    PARAM_INT_ROW(f3fs, mem_cap, "", 0, 1e12, 256, "cycles or requests of a MEM phase that pass an older PIM request"),
    PARAM_INT_ROW(f3fs, pim_cap, "", 0, 1e12, 256, "cycles or requests of a PIM phase that pass an older MEM request"),
    PARAM_CHOICE_ROW(f3fs, count, "cycles|requests", 0, "what the caps count"),
    {0}};

enum { F3FS_CYCLES, F3FS_REQUESTS };

static inline int64_t f3fs_cap(const struct f3fs *p, const struct dram_channel *ch)
{
    return ch->mode == DRAM_PIM ? p->pim_cap : p->mem_cap;
}

/* Whether this cycle counts. */
static inline bool f3fs_counts(const struct f3fs *p, const struct dram_channel *ch)
{
    return p->count == F3FS_CYCLES && ch->waiting[DRAM_MEM] && ch->waiting[DRAM_PIM] && f3fs_cap(p, ch) &&
           (ch->mode == DRAM_PIM) == (ch->older != 0);
}

static inline enum dram_switch f3fs_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct f3fs *p = state;
    (void)hits;
    if (!ch->waiting[!ch->mode])
        return DRAM_STAY;
    enum dram_switch answer = DRAM_SWITCH;
    if (ch->waiting[ch->mode]) {
        const int64_t cap = f3fs_cap(p, ch);
        p->passed += f3fs_counts(p, ch);
        if (!cap || (p->count == F3FS_CYCLES ? p->passed <= cap : p->passed < cap))
            return DRAM_STAY;
        answer = DRAM_SWITCH_CAP;
    }
    p->passed = 0;
    return answer;
}

static inline void f3fs_on_issue(void *state, const struct dram_channel *ch, enum dram_class class, uint32_t row,
                                 uint32_t seq)
{
    struct f3fs *p = state;
    (void)row;
    if (p->count != F3FS_REQUESTS)
        return;
    if (class == DRAM_PIM)
        p->passed += ch->waiting[DRAM_MEM] && ch->older;
    else
        p->passed += ch->waiting[DRAM_PIM] && (int32_t)(ch->pim.seqs[ch->pim.head] - seq) < 0;
}

static inline void f3fs_advance(void *state, const struct dram_channel *ch, int64_t n)
{
    struct f3fs *p = state;
    if (f3fs_counts(p, ch))
        p->passed += n;
}

static inline int64_t f3fs_next_change(void *state, const struct dram_channel *ch, int64_t now)
{
    struct f3fs *p = state;
    if (!f3fs_counts(p, ch))
        return INT64_MAX;
    const int64_t left = f3fs_cap(p, ch) - p->passed;
    return now + 1 + (left > 0 ? left : 0);
}

DRAM_LOOPS(f3fs, .skip_mem_only = true, .switch_mode = f3fs_switch_mode, .on_issue = f3fs_on_issue,
           .advance = f3fs_advance, .next_change = f3fs_next_change)

const struct dram_policy dram_f3fs = {
    .head = {.name = "f3fs",
             .summary = "the current mode goes on, up to a cap on passing the other class (F3FS)",
             .source = "gupta-2025-f3fs section V; artifact GPGPU-Sim-4.0.1 (branch ISPASS_2025, "
                       "commit 1eea352) dram_sched_pim_frfcfs_util (policy 4)",
             .params = params,
             .state_size = sizeof(struct f3fs)},
    .loops = &f3fs_loops,
    .alone_baseline = true};
