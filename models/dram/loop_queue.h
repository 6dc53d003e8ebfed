/* loop_queue: requests enter a channel's queues; what of them would hit an open row. */
#ifndef MODELS_DRAM_LOOP_QUEUE_H
#define MODELS_DRAM_LOOP_QUEUE_H

#include "models/dram/channel.h"
#include "models/dram/lanes.h"

#define DRAM_INLINE static inline __attribute__((always_inline))

DRAM_INLINE int32_t dram_later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* A MEM or PIM request enters at the end of cycle t (an offset). */
DRAM_INLINE void dram_enter(struct dram_channel *ch, bool fifo, int32_t t, uint32_t row, uint32_t bank, uint8_t flags,
                            uint32_t id)
{
    const enum dram_class class = flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    const uint32_t seq = ch->seq++;
    if (__builtin_expect(ch->stats.first_in[class] < 0, 0))
        ch->stats.first_in[class] = ch->base + t;
    ch->stats.in[class]++;
    ch->stats.columns_in += flags & DRAM_COLUMNS;
    if (ch->fate.enter)
        ch->fate.enter[id] = ch->base + t;
    if (fifo) {
        const uint32_t i =
            (ch->fifo.head + (uint32_t)(ch->waiting[DRAM_MEM] + ch->waiting[DRAM_PIM])) % (2 * DRAM_QUEUES);
        ch->fifo.rows[i] = row;
        ch->fifo.ids[i] = id;
        ch->fifo.flags[i] = flags;
        ch->fifo.banks[i] = (uint8_t)bank;
        ch->waiting[class]++;
        return;
    }
    if (class == DRAM_PIM) {
        const uint32_t i = (ch->pim.head + (uint32_t)ch->waiting[DRAM_PIM]) % DRAM_QUEUES;
        ch->pim.rows[i] = row;
        ch->pim.ids[i] = id;
        ch->pim.seqs[i] = seq;
        ch->pim.flags[i] = flags;
        if (ch->waiting[DRAM_PIM]++ == 0)
            ch->older = ch->pending;
        return;
    }
    struct dram_bank_queue *q = &ch->bank[bank];
    const dram_banks bit = DRAM_BANK(bank);
    if (__builtin_expect(q->tail == q->limit, 0))
        dram_bank_queue_compact(q);
    const int i = q->tail++;
    const uint64_t at = UINT64_C(1) << i;
    q->rows[i] = row;
    q->tags[i] = (uint8_t)row;
    q->ids[i] = id;
    q->seqs[i] = seq;
    q->flags[i] = flags;
    q->live |= at;
    q->same |= row == q->last_row ? at : 0;
    if (row == ch->open_row[bank]) {
        q->match |= at;
        ch->match |= bit;
    }
    if (!(ch->pending & bit)) {
        ch->pending |= bit;
        ch->head_seq[bank] = seq;
        ch->older &= ~bit;
    }
    ch->waiting[DRAM_MEM]++;
}

/* Those of a bank's waiting requests `live` that are of the row. */
DRAM_INLINE uint64_t dram_bank_find(const struct dram_bank_queue *q, uint64_t live, uint32_t row)
{
    uint64_t found = lanes_bytes(q->tags, (uint8_t)row) & live;
    if (__builtin_expect(found != 0, 0))
        found &= lanes_find(q->rows, q->tail, row);
    return found;
}

/* Find the open-row matches of stale banks again. */
DRAM_INLINE void dram_find_matches(struct dram_channel *ch, dram_banks banks)
{
    for (dram_banks m = ch->stale & banks; m; m &= m - 1) {
        const int b = __builtin_ctzll(m);
        struct dram_bank_queue *q = &ch->bank[b];
        q->match = dram_bank_find(q, q->live, ch->open_row[b]);
        ch->match = q->match ? ch->match | DRAM_BANK(b) : ch->match & ~(DRAM_BANK(b));
    }
    ch->stale &= ~banks;
}

/* Banks whose next request would hit: a live streak, else a waiting request of the open row. */
DRAM_INLINE dram_banks dram_next_hit(struct dram_channel *ch)
{
    if (ch->stale)
        dram_find_matches(ch, ch->all);
    return ch->streak | (ch->match & ch->pending);
}

#endif
