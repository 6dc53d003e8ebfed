/* mem-first: PIM is served only while no MEM request waits.
 *
 * There is no commitment: a MEM request that arrives while the banks drain for PIM turns the mode back, and both turns
 * count as switches.
 * Worked example: a PIM request waits, the last MEM request leaves its queue at cycle t: PIM mode from t + 1; a MEM
 * request that enters at t + 3 brings MEM mode back at t + 4, and if a bank slot was still occupied no PIM request was
 * served. Source: gupta-2025-f3fs section III; policy 6 of the artifact. Differs: nothing known. */
#include "models/dram/loop.h"

static inline enum dram_switch mem_first_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    (void)state, (void)hits;
    const bool mem = ch->waiting[DRAM_MEM] > 0, pim = ch->waiting[DRAM_PIM] > 0;
    return (ch->mode == DRAM_PIM ? mem : !mem && pim) ? DRAM_SWITCH : DRAM_STAY;
}

DRAM_LOOPS(mem_first, .skip_mem_only = true, .switch_mode = mem_first_switch_mode)

const struct dram_policy dram_mem_first = {.head = {.name = "mem-first",
                                                    .summary = "PIM is served only while no MEM request waits",
                                                    .source = DRAM_ARTIFACT "dram_sched_mem_first.cc"},
                                           .loops = &mem_first_loops};
