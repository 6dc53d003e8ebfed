/* fcfs: one queue for both classes; only its head is looked at.
 *
 * A MEM head goes when its bank's slot is empty, a PIM head when all slots are; different banks overlap. The mode is
 * the head's class: a switch counts in the first cycle in which a head of the other class is seen, even if it cannot go
 * yet. Worked example: reads to banks 0, 1 and 0 arrive at cycles 0, 1, 2. They are selected at 1, 2 and 14: the third
 * waits for bank 0's slot, which empties with the first one's column command at 13 (ACT at 1, tRCD 12). Source:
 * gupta-2025-f3fs section III; dram_sched.cc (FCFS), policy 1 of the artifact. Differs: nothing known. */
#include "models/dram/dram_policy.h"

struct fcfs {
    int64_t none;
};

enum { fcfs_needs_hits = 0 };
DRAM_PLAIN_LIMITS(fcfs)
DRAM_PLAIN_SELECTION(fcfs)
DRAM_PLAIN_SERVED(fcfs)

static inline enum dram_leave fcfs_leaves(struct fcfs *p, const struct dram_channel *ch, unsigned hits)
{
    (void)p;
    (void)hits;
    if (!(ch->waiting[DRAM_MEM] + ch->waiting[DRAM_PIM]))
        return DRAM_STAY;
    const enum dram_class head = ch->fifo.flags[ch->fifo.head] & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    return head != ch->mode ? DRAM_LEAVE : DRAM_STAY;
}

#define DRAM_LOOP_POLICY fcfs
#define DRAM_LOOP_FIFO   1
#include "models/dram/loop.h"

const struct dram_policy dram_fcfs = {
    .head =
        {.name = "fcfs",
         .summary = "first come, first served: one queue for both classes",
         .source =
             "gupta-2025-f3fs section III; artifact GPGPU-Sim-4.0.1 (branch ISPASS_2025, commit 1eea352) dram_sched.cc",
         .state_size = sizeof(struct fcfs)},
    .loops = &fcfs_loops};
