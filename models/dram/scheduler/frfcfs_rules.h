/* frfcfs_rules: when FR-FCFS changes between MEM and PIM; shared by frfcfs, frfcfs-cap, frfcfs-modecap and bliss;
 * frrr-fcfs has the state and the hooks.
 *
 * PIM mode: no PIM waiting and some MEM: switch. Both waiting and a PIM request was issued in this phase: switch if the
 * next PIM request is of another row and some bank's oldest MEM request is older than it.
 * MEM mode: no MEM waiting and some PIM: switch. Both waiting: a bank becomes ready when its queue is empty, or when a
 * scan reached it in this phase, its next request would not hit and its oldest is younger than the oldest PIM request.
 * A ready bank gets no more requests; all sixteen ready: switch. */
#pragma once

#include "models/dram/channel.h"

struct frfcfs_rules {
    uint32_t row; /* of the last PIM request of this phase + 1; 0: none */
    dram_banks scanned, ready;
};

static inline void frfcfs_rules_end_phase(struct frfcfs_rules *r, enum dram_class mode)
{
    if (mode == DRAM_PIM)
        r->row = 0;
    else
        r->scanned = r->ready = 0;
}

/* Returns whether the rules switch the mode; updates the ready banks. */
static inline bool frfcfs_rules_switch(struct frfcfs_rules *r, const struct dram_channel *ch, dram_banks hits)
{
    const bool mem = ch->waiting[DRAM_MEM] > 0, pim = ch->waiting[DRAM_PIM] > 0;
    if (ch->mode == DRAM_PIM)
        return mem && (!pim || (r->row && ch->pim.rows[ch->pim.head] + 1 != r->row && ch->older));
    if (!pim)
        return false;
    if (!mem)
        return true;
    r->ready |= (~ch->pending & ch->all) | (r->scanned & ~hits & ~ch->older & ch->pending);
    return r->ready == ch->all;
}

/* Hooks (models/dram/dram_policy.h) of a policy whose state begins with the rules. */
static inline void frfcfs_rules_on_issue(void *state, const struct dram_channel *ch, enum dram_class class,
                                         uint32_t row, uint32_t seq)
{
    (void)ch, (void)seq;
    if (class == DRAM_PIM)
        ((struct frfcfs_rules *)state)->row = row + 1;
}

static inline dram_banks frfcfs_rules_stalled_banks(const void *state)
{
    return ((const struct frfcfs_rules *)state)->ready;
}

static inline bool frfcfs_rules_on_scan(void *state, dram_banks banks)
{
    struct frfcfs_rules *r = state;
    const bool news = banks & ~r->scanned;
    r->scanned |= banks;
    return news;
}
