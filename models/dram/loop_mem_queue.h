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
    q->tags[i] = (uint8_t)r->row;
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

/* The next request enters at cycle t, and the one behind it is looked at. */
DRAM_INLINE void mem_enter_next(struct dram_channel *ch, struct mem_line *in, const struct mem_source *from, int32_t t)
{
    mem_enter(ch, in, from, t);
    in->head++;
    mem_look(in, from, t + 1);
}

/* Requests enter after cycle t and those that follow, one a cycle, up to cycle `next`, which comes nearer when the slot
 * of one is empty. Returns the cycle to visit next. */
DRAM_INLINE int32_t mem_feed(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t,
                             int32_t next)
{
    next = next < m->in.stop ? next : m->in.stop;
    while (m->in.waiting < from->queue && m->in.arrival < next && t < next) {
        t = m->in.arrival > t ? (int32_t)m->in.arrival : t;
        const bool empty = !(m->occupied >> from->requests[m->in.id].bank & 1);
        mem_enter_next(ch, &m->in, from, t);
        t++;
        next = empty ? t : next;
        next = next < m->in.stop ? next : m->in.stop;
    }
    return next;
}

/* --- selection --- */

/* What bank b's slot needs for the request selected at t: of the row selected last (hit) or of another. */
DRAM_INLINE void mem_need(const struct dram_channel *ch, struct dram_mem *m, struct mem_wheel *w, int32_t t, int b,
                          bool hit, bool write)
{
    if (!(m->active >> b & 1)) /* never opened, or closed by a refresh: that row stays the one that hits */
        mem_ready_to_act(m, w, t, b, ch->act_ok[b]);
    else if (!hit)
        mem_ready(m, w, t, mem_slot(MEM_PRE, b), ch->pre_ok[b]);
    else
        mem_ready(m, w, t, mem_slot(write ? MEM_WR : MEM_RD, b), write ? ch->wr_ok[b] : ch->rd_ok[b]);
}

/* FR-FCFS within a bank: with an empty slot the row selected last is the open one. */
DRAM_INLINE void mem_take(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                          struct mem_wheel *w, int32_t t, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const unsigned bit = 1u << b;
    const uint64_t was = q->same;
    const int i = __builtin_ctzll(was ? was : q->live);
    const uint64_t live = q->live & ~(UINT64_C(1) << i);
    const uint32_t row = q->rows[i];
    const uint8_t flags = q->flags[i];
    const bool write = flags & DRAM_IS_WRITE;
    uint64_t same = was & (was - 1);
    if (was) {
        m->hits++;
    } else {
        q->last_row = row;
        same = dram_bank_find(q, live, row);
    }
    mem_need(ch, m, w, t, b, was, write);
    ch->slot_row[b] = row;
    ch->slot_id[b] = q->ids[i];
    ch->slot_flags[b] = flags;
    if (__builtin_expect((flags & DRAM_COLUMNS) != 1, 0)) {
        ch->slot_columns[b] = flags & DRAM_COLUMNS;
        m->longer |= bit;
    }
    q->same = same;
    q->live = live;
    m->streak &= ~bit;
    if (__builtin_expect(same != 0, 0))
        m->streak |= bit;
    if (!live) {
        q->tail = 0;
        q->limit = DRAM_QUEUE / 2;
        m->in.pending &= ~bit;
    }
    if (from->fates && ch->fate.sched)
        ch->fate.sched[q->ids[i]] = from->base + t;
    m->in.waiting--;
    m->served++;
    m->slot_sum -= t;
    m->occupied |= bit;
}

/* The banks that a scan asks that ends at bank b. */
DRAM_INLINE unsigned mem_asked(unsigned scan, int b)
{
    const unsigned up_to = (2u << b) - 1;
    return scan >> b & 1 ? scan & up_to : scan | up_to;
}

/* Select a request at t, if a slot is empty for one; whether it was. */
DRAM_INLINE bool mem_select(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                            struct mem_wheel *w, int32_t t)
{
    const unsigned can = ~m->occupied & m->in.pending;
    if (!can) {
        m->unasked &= m->occupied;
        return false;
    }
    const int b = mem_first(can, m->scan);
    if (__builtin_expect(m->unasked != 0, 0))
        m->unasked &= m->occupied | ~mem_asked(m->scan, b);
    m->scan = mem_scan_on(m->scan, from);
    mem_take(ch, m, from, w, t, b);
    return true;
}

#endif
