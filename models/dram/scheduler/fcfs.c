/* fcfs: one queue for both classes; only its head is looked at.
 *
 * A MEM head goes when its bank's slot is empty, a PIM head when all slots are; different banks overlap. The mode is
 * the head's class: a switch counts in the first cycle in which a head of the other class is seen, even if it cannot go
 * yet. Worked example: reads to banks 0, 1 and 0 arrive at cycles 0, 1, 2. They are selected at 1, 2 and 14: the third
 * waits for bank 0's slot, which empties with the first one's column command at 13 (ACT at 1, tRCD 12). Source:
 * gupta-2025-f3fs section III; dram_sched.cc (FCFS), policy 1 of the artifact. Differs: nothing known. */
#include "models/dram/loop.h"

static inline enum dram_switch fcfs_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    (void)state, (void)hits;
    if (!(ch->waiting[DRAM_MEM] + ch->waiting[DRAM_PIM]))
        return DRAM_STAY;
    const enum dram_class head = ch->fifo.flags[ch->fifo.head] & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    return head != ch->mode ? DRAM_SWITCH : DRAM_STAY;
}

DRAM_LOOPS(fcfs, .fifo = true, .switch_mode = fcfs_switch_mode)

const struct dram_policy dram_fcfs = {.head = {.name = "fcfs",
                                               .summary = "first come, first served: one queue for both classes",
                                               .source = DRAM_ARTIFACT "dram_sched.cc"},
                                      .loops = &fcfs_loops};
