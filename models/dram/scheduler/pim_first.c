/* pim-first: MEM is served only while no PIM request waits.
 *
 * Worked example: in MEM mode a PIM request enters at cycle t; PIM mode from t + 1, PIM starts when the MEM requests
 * that already hold bank slots are done. MEM mode returns in the first cycle in which no PIM and some MEM request
 * waits. Source: gupta-2025-f3fs section III; policy 7 of the artifact. Differs: nothing known. */
#include "models/dram/loop.h"

static inline enum dram_switch pim_first_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    (void)state, (void)hits;
    const bool mem = ch->waiting[DRAM_MEM] > 0, pim = ch->waiting[DRAM_PIM] > 0;
    return (ch->mode == DRAM_PIM ? !pim && mem : pim) ? DRAM_SWITCH : DRAM_STAY;
}

DRAM_LOOPS(pim_first, .skip_mem_only = true, .switch_mode = pim_first_switch_mode)

const struct dram_policy dram_pim_first = {.head = {.name = "pim-first",
                                                    .summary = "MEM is served only while no PIM request waits",
                                                    .source = DRAM_ARTIFACT "dram_sched_pim_first.cc"},
                                           .loops = &pim_first_loops};
