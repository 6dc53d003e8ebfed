/* frrr-fcfs: FR-RR-FCFS; the classes take turns at row conflicts.
 *
 * PIM mode ends when the next PIM request is of another row than the last one served and a MEM request waits. In MEM
 * mode a bank is through (and gets no more requests) once it has none waiting, or its slot is occupied and its next
 * request would not hit; when all banks are through, PIM mode begins. Without requests of its own class a mode ends at
 * once. Worked example: PIM blocks of 16 requests per row and MEM always waiting: one block per PIM phase. Source:
 * gupta-2025-f3fs section III; policy 3 of the artifact. Differs: nothing known. */
#include "models/dram/loop.h"
#include "models/dram/scheduler/frfcfs_rules.h"

static inline enum dram_switch frrr_fcfs_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct frfcfs_rules *p = state; /* ready: through */
    const bool mem = ch->waiting[DRAM_MEM] > 0, pim = ch->waiting[DRAM_PIM] > 0;
    if (ch->mode == DRAM_PIM) {
        if (!mem || (pim && (!p->row || ch->pim.rows[ch->pim.head] + 1 == p->row)))
            return DRAM_STAY;
        p->row = 0;
        return DRAM_SWITCH;
    }
    if (!pim)
        return DRAM_STAY;
    p->ready |= (~ch->pending | (ch->occupied & ~hits)) & ch->all;
    if (mem && p->ready != ch->all)
        return DRAM_STAY;
    p->ready = 0;
    return DRAM_SWITCH;
}

DRAM_LOOPS(frrr_fcfs, .skip_mem_only = true, .needs_hits = true, .switch_mode = frrr_fcfs_switch_mode,
           .on_issue = frfcfs_rules_on_issue, .stalled_banks = frfcfs_rules_stalled_banks)

const struct dram_policy dram_frrr_fcfs = {.head = {.name = "frrr-fcfs",
                                                    .summary = "the classes take turns at row conflicts (FR-RR-FCFS)",
                                                    .source = DRAM_ARTIFACT "dram_sched_pim_frfcfs_rr",
                                                    .state_size = sizeof(struct frfcfs_rules)},
                                           .loops = &frrr_fcfs_loops};
