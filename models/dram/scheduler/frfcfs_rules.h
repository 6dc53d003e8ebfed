/* frfcfs_rules: when FR-FCFS changes between MEM and PIM; shared by frfcfs, frfcfs-cap, frfcfs-modecap and bliss;
 * frrr-fcfs has the state and the hooks.
 *
 * PIM mode: no PIM waiting and some MEM: leave. Both waiting and a PIM request was served in this phase: leave if the
 * next PIM request is of another row and some bank's oldest MEM request is older than it.
 * MEM mode: no MEM waiting and some PIM: leave. Both waiting: a bank becomes ready when its queue is empty, or when it
 * was asked for a request in this phase, its next one would not hit and its oldest is younger than the oldest PIM
 * request. A ready bank gets no more requests; all sixteen ready: leave. */
#ifndef MODELS_DRAM_SCHEDULER_FRFCFS_RULES_H
#define MODELS_DRAM_SCHEDULER_FRFCFS_RULES_H

#include "models/dram/channel.h"

struct frfcfs_rules {
    uint32_t row; /* of the last PIM request of this phase + 1; 0: none */
    dram_banks polled, ready;
};

static inline void frfcfs_rules_leave(struct frfcfs_rules *r, enum dram_class mode)
{
    if (mode == DRAM_PIM)
        r->row = 0;
    else
        r->polled = r->ready = 0;
}

/* Whether the rules say to leave; ready banks are found on the way. */
static inline bool frfcfs_rules_leaves(struct frfcfs_rules *r, const struct dram_channel *ch, dram_banks hits)
{
    const bool mem = ch->waiting[DRAM_MEM] > 0, pim = ch->waiting[DRAM_PIM] > 0;
    if (ch->mode == DRAM_PIM)
        return mem && (!pim || (r->row && ch->pim.rows[ch->pim.head] + 1 != r->row && ch->older));
    if (!pim)
        return false;
    if (!mem)
        return true;
    r->ready |= (~ch->pending & ch->all) | (r->polled & ~hits & ~ch->older & ch->pending);
    return r->ready == ch->all;
}

/* Hooks (models/dram/dram_policy.h) of a policy whose state begins with the rules. */
static inline void frfcfs_rules_served(void *state, const struct dram_channel *ch, enum dram_class class, uint32_t row,
                                       uint32_t seq)
{
    (void)ch, (void)seq;
    if (class == DRAM_PIM)
        ((struct frfcfs_rules *)state)->row = row + 1;
}

static inline dram_banks frfcfs_rules_stalled(const void *state)
{
    return ((const struct frfcfs_rules *)state)->ready;
}

static inline bool frfcfs_rules_asked(void *state, dram_banks banks)
{
    struct frfcfs_rules *r = state;
    const bool news = banks & ~r->polled;
    r->polled |= banks;
    return news;
}

#endif
