/* loop_mem_queue: requests enter the queues of banks and are selected into slots; a part of models/dram/loop_mem.c. */
#ifndef MODELS_DRAM_LOOP_MEM_QUEUE_H
#define MODELS_DRAM_LOOP_MEM_QUEUE_H

#include "models/dram/loop_mem_state.h"
#include "models/dram/loop_select.h"

/* --- entering --- */

/* The id of the request at a position of the line, below `count`. */
DRAM_INLINE uint32_t mem_id(const struct mem_source *from, uint32_t position)
{
    return from->ids ? from->ids[position] : position;
}

/* The next request enters at cycle t. Its number among all is given when the run ends: mem_end_queues(). */
DRAM_INLINE void mem_enter(struct dram_channel *ch, struct mem_line *in, const struct mem_source *from, int32_t t)
{
    const struct dram_request *r = &from->requests[in->id];
    struct dram_bank_queue *q = &ch->bank[r->bank];
    ONCE(q);
    if (from->fates && ch->fate.enter)
        ch->fate.enter[in->id] = from->base + t;
    if (__builtin_expect(q->tail == q->limit, 0))
        dram_bank_queue_compact(q);
    const int i = q->tail++;
    const uint64_t at = UINT64_C(1) << i;
    q->rows[i] = r->row;
    q->ids[i] = in->id;
    q->flags[i] = r->flags;
    q->live |= at;
    q->same |= r->row == q->last_row ? at : 0;
    in->pending |= 1u << r->bank;
    in->waiting++;
    in->columns_in += r->flags & DRAM_COLUMNS;
}

/* Look at the request at the head, which may enter from cycle t on. With one virtual channel a PIM request ends the run
 * there. */
DRAM_INLINE void mem_look(struct mem_line *in, const struct mem_source *from, int32_t t)
{
    in->arrival = INT64_MAX;
    if (in->head == from->count)
        return;
    in->id = mem_id(from, in->head);
    const struct dram_request *r = &from->requests[in->id];
    in->arrival = r->arrival - from->base;
    if (__builtin_expect(from->one && r->flags & DRAM_IS_PIM, 0)) {
        const int64_t at = in->arrival > t ? in->arrival : t;
        in->stop = at < in->stop ? (int32_t)at : in->stop;
        in->arrival = INT64_MAX;
    }
}

/* Requests enter after cycle t and those that follow, one a cycle, up to cycle `next`, which comes nearer when the slot
 * of one is empty. Returns the cycle to visit next. */
DRAM_INLINE int32_t mem_feed(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t,
                             int32_t next)
{
    next = next < m->in.stop ? next : m->in.stop;
    while (m->in.waiting < from->queue && m->in.arrival < next && t < next) {
        t = m->in.arrival > t ? (int32_t)m->in.arrival : t;
        const unsigned bit = 1u << from->requests[m->in.id].bank;
        mem_enter(ch, &m->in, from, t);
        m->in.head++;
        t++;
        mem_look(&m->in, from, t);
        next = m->occupied & bit ? next : t;
        next = next < m->in.stop ? next : m->in.stop;
    }
    return next;
}

/* --- selection --- */

/* FR-FCFS within a bank: with an empty slot the row selected last is the open one. */
DRAM_INLINE void mem_take(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                          struct mem_wheel *w, int32_t t, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const unsigned bit = 1u << b;
    const uint64_t was = q->same;
    const bool hit = was != 0;
    const int i = __builtin_ctzll(hit ? was : q->live);
    const uint64_t at = UINT64_C(1) << i, live = q->live & ~at;
    const uint32_t row = q->rows[i], id = q->ids[i];
    const uint8_t flags = q->flags[i];
    const unsigned write = (flags & DRAM_IS_WRITE) != 0;
    uint64_t same = was & ~at;
    ch->slot_row[b] = row;
    ch->slot_id[b] = id;
    ch->slot_flags[b] = flags;
    ch->slot_columns[b] = flags & DRAM_COLUMNS;
    if (hit && m->active & bit) { /* a refresh closes banks; their rows stay the ones that hit */
        m->want_rd |= write ? 0 : bit;
        m->want_wr |= write ? bit : 0;
        mem_ready(m, w, t, bit, write ? ch->wr_ok[b] : ch->rd_ok[b]);
    } else {
        if (!hit) {
            q->last_row = row;
            same = live ? lanes_find(q->rows, q->tail <= 32 ? 32 : DRAM_QUEUE, row) & live : 0;
        }
        m->want_pre |= m->active & bit;
        m->want_act |= ~m->active & bit;
        mem_ready(m, w, t, bit, m->active & bit ? ch->pre_ok[b] : ch->act_ok[b]);
    }
    q->same = same;
    q->live = live;
    m->streak = same ? m->streak | bit : m->streak & ~bit;
    if (!live) {
        q->tail = 0;
        q->limit = DRAM_QUEUE / 2;
        m->in.pending &= ~bit;
    }
    if (from->fates && ch->fate.sched)
        ch->fate.sched[id] = from->base + t;
    m->in.waiting--;
    m->served[hit + 2 * write]++;
    m->slot_cycles -= m->occupied ? 0 : t;
    m->slot_sum -= t;
    m->occupied |= bit;
    m->writes = (m->writes & ~bit) | (write ? bit : 0);
    m->longer |= (flags & DRAM_COLUMNS) > 1 ? bit : 0;
}

DRAM_INLINE void mem_select(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                            struct mem_wheel *w, int32_t t)
{
    const unsigned empty = ~m->occupied & DRAM_ALL, can = empty & m->in.pending;
    if (!can) {
        m->asked |= empty;
        return;
    }
    const int step = __builtin_ctz(dram_rotate(can, m->prio)), b = (m->prio + step) & 15;
    if (m->asked != DRAM_ALL)
        m->asked |= dram_rotate(dram_rotate(empty, m->prio) & ((2u << step) - 1), (16 - m->prio) & 15);
    m->prio = (m->prio + 1) & from->bank_mask;
    mem_take(ch, m, from, w, t, b);
}

#endif
