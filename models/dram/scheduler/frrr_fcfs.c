/* frrr-fcfs: FR-RR-FCFS; the classes take turns at row conflicts.
 *
 * PIM mode ends when the next PIM request is of another row than the last one served and a MEM request waits. In MEM
 * mode a bank is through (and gets no more requests) once it has none waiting, or its slot is occupied and its next
 * request would not hit; when all banks are through, PIM mode begins. Without requests of its own class a mode ends at
 * once. Worked example: PIM blocks of 16 requests per row and MEM always waiting: one block per PIM phase. Source:
 * gupta-2025-f3fs section III; policy 3 of the artifact. Differs: nothing known. */
#include "models/dram/dram_policy.h"
#include "models/dram/loop.h"

struct frrr_fcfs {
    uint32_t row; /* of the last PIM request of this phase + 1; 0: none */
    dram_banks through;
};

static inline enum dram_leave frrr_fcfs_leaves(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct frrr_fcfs *p = state;
    const bool mem = ch->waiting[DRAM_MEM] > 0, pim = ch->waiting[DRAM_PIM] > 0;
    if (ch->mode == DRAM_PIM) {
        if (!mem || (pim && (!p->row || ch->pim.rows[ch->pim.head] + 1 == p->row)))
            return DRAM_STAY;
        p->row = 0;
        return DRAM_LEAVE;
    }
    if (!pim)
        return DRAM_STAY;
    p->through |= (~ch->pending | (ch->occupied & ~hits)) & ch->all;
    if (mem && p->through != ch->all)
        return DRAM_STAY;
    p->through = 0;
    return DRAM_LEAVE;
}

static inline void frrr_fcfs_served(void *state, const struct dram_channel *ch, enum dram_class class, uint32_t row,
                                    uint32_t seq)
{
    struct frrr_fcfs *p = state;
    (void)ch;
    (void)seq;
    if (class == DRAM_PIM)
        p->row = row + 1;
}

static inline dram_banks frrr_fcfs_stalled(const void *state)
{
    const struct frrr_fcfs *p = state;
    return p->through;
}

static const struct dram_hooks frrr_fcfs_hooks = {
    .quiet = true,
    .needs_hits = true,
    .leaves = frrr_fcfs_leaves,
    .served = frrr_fcfs_served,
    .stalled = frrr_fcfs_stalled,
};
DRAM_LOOPS(frrr_fcfs_loops, frrr_fcfs_hooks)

const struct dram_policy dram_frrr_fcfs = {.head = {.name = "frrr-fcfs",
                                                    .summary = "the classes take turns at row conflicts (FR-RR-FCFS)",
                                                    .source =
                                                        "gupta-2025-f3fs section III; artifact GPGPU-Sim-4.0.1 (branch "
                                                        "ISPASS_2025, commit 1eea352) dram_sched_pim_frfcfs_rr",
                                                    .state_size = sizeof(struct frrr_fcfs)},
                                           .loops = &frrr_fcfs_loops};
