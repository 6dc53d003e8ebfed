/* pim-first: MEM is served only while no PIM request waits.
 *
 * Worked example: in MEM mode a PIM request enters at cycle t; PIM mode from t + 1, PIM starts when the MEM requests
 * that already hold bank slots are done. MEM mode returns in the first cycle in which no PIM and some MEM request
 * waits. Source: gupta-2025-f3fs section III; policy 7 of the artifact. Differs: nothing known. */
#include "models/dram/dram_policy.h"
#include "models/dram/loop.h"

struct pim_first {
    int64_t none;
};

static inline enum dram_leave pim_first_leaves(void *state, const struct dram_channel *ch, dram_banks hits)
{
    (void)state;
    (void)hits;
    const bool mem = ch->waiting[DRAM_MEM] > 0, pim = ch->waiting[DRAM_PIM] > 0;
    return (ch->mode == DRAM_PIM ? !pim && mem : pim) ? DRAM_LEAVE : DRAM_STAY;
}

static const struct dram_hooks pim_first_hooks = {
    .quiet = true,
    .leaves = pim_first_leaves,
};

static void pim_first_feed(struct dram_channel *ch, void *state, struct dram_feed *feed)
{
    dram_loop_feed(ch, &pim_first_hooks, state, feed);
}

static int64_t pim_first_step(struct dram_channel *ch, void *state, int64_t now)
{
    return dram_loop_step(ch, &pim_first_hooks, state, now);
}

static const struct dram_loops pim_first_loops = {pim_first_feed, pim_first_step, dram_push};

const struct dram_policy dram_pim_first = {.head = {.name = "pim-first",
                                                    .summary = "MEM is served only while no PIM request waits",
                                                    .source =
                                                        "gupta-2025-f3fs section III; artifact GPGPU-Sim-4.0.1 (branch "
                                                        "ISPASS_2025, commit 1eea352) dram_sched_pim_first.cc",
                                                    .state_size = sizeof(struct pim_first)},
                                           .loops = &pim_first_loops};
