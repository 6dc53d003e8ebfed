/* loop_mem_stream: runs of reads of open rows; a part of models/dram/loop_mem.c. */
#ifndef MODELS_DRAM_LOOP_MEM_STREAM_H
#define MODELS_DRAM_LOOP_MEM_STREAM_H

#include "models/dram/loop_mem_steady.h"

/* dram_mem.calm: runs of reads are looked for from MEM_CALM on. It grows by the cycle while there are any; an ACT
 * leaves one MEM_ACT_CALMS-th of it, a run of no cycles half, a write nothing. */
enum { MEM_CALM = 8, MEM_CALMEST = 64 };

/* Of a device: nothing that a read of an open row would have to wait for but other reads, by the rules it has. */
DRAM_INLINE bool mem_device_streams(const struct dram_channel *ch, int32_t t)
{
    const struct dram_device *d = &ch->device;
    return t >= d->wtrl_last && t >= d->column_bus_ok && ch->timing.column_bus <= ch->timing.ccd;
}

/* Whether mem_stream() may go on from here: what is due are single reads of open rows, the other slots sleep. */
DRAM_INLINE bool mem_may_stream(const struct dram_channel *ch, const struct dram_mem *m, const struct mem_source *from,
                                int32_t t)
{
    return t != m->stopped && !(m->due >> DRAM_NARROW * MEM_WR) && !(m->due & m->longer) && !m->unasked &&
           t >= m->wtr_ok && m->due | (m->in.pending & ~m->occupied) && (!from->device || mem_device_streams(ch, t));
}

/* Select bank b's next request; false, and nothing is done, if it is no single read of the open row. */
DRAM_INLINE bool mem_stream_take(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const uint64_t same = q->same;
    const int i = __builtin_ctzll(same | UINT64_C(1) << 63);
    if (!same || q->flags[i] != 1 || ch->rd_ok[b] > s->t || !(s->active >> b & 1))
        return false;
    const unsigned bit = 1u << b;
    const uint64_t rest = same & (same - 1), live = q->live ^ same ^ rest;
    q->same = rest;
    q->live = live;
    if (!live) {
        q->tail = 0;
        s->in.pending &= ~bit;
    }
    ch->slot_id[b] = q->ids[i];
    ch->slot_row[b] = q->rows[i];
    if (from->fates && ch->fate.sched)
        ch->fate.sched[q->ids[i]] = from->base + s->t;
    s->scan = mem_scan_on(s->scan, from);
    s->reads |= bit;
    s->taken |= bit;
    s->selected++;
    s->slot_sum -= s->t;
    s->in.waiting--;
    return true;
}

/* The column command of cycle t to one of the reads, if a group allows one; returns its bank, else -1. */
DRAM_INLINE int mem_stream_column(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from)
{
    const struct dram_timing *tm = &ch->timing;
    const int32_t t = s->t;
    unsigned columns = t < s->ccd_ok ? 0 : s->reads;
    while (columns) {
        const int b = mem_first(columns, s->scan), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] > t) {
            columns &= ~(unsigned)ch->group_banks[g];
            continue;
        }
        dram_legal_rd_again(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        if (from->device)
            (void)dram_device_gave_one(ch, DRAM_RD, b, ch->slot_row[b], t);
        s->ccd_ok = t + tm->ccd;
        ch->ccdl_ok[g] = t + tm->ccdl;
        ch->rtpl_ok[g] = t + tm->rtpl;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->rtp);
        s->reads &= ~(1u << b);
        s->slot_sum += t + 1;
        mem_done(ch, &s->out, from, ch->slot_id[b], t, t + tm->cl);
        return b;
    }
    return -1;
}

/* Slots wake at cycle t: single reads join the run; false, and nothing is done, if there is another among them. */
DRAM_INLINE bool mem_stream_join(struct mem_stream *s, struct mem_wheel *w)
{
    if (w->slots[(unsigned)s->t % DRAM_WHEEL] & ~(uint64_t)s->single)
        return false;
    mem_stream_wake(s, w, s->t);
    return true;
}

/* The cycles from t on, for as long as each request that is selected is a single read of its bank's open row and no
 * slot wakes that holds something else: then no row command and no turnaround comes in between. */
DRAM_INLINE void mem_stream_run(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from,
                                struct mem_wheel *w)
{
    while (s->t < s->in.stop && (s->t < s->wakes || mem_stream_join(s, w))) {
        const unsigned can = s->in.pending & ~(s->reads | s->asleep);
        if (can && !mem_stream_take(ch, s, from, mem_first(can, s->scan)))
            break;
        if (!s->reads)
            break;
        int b = mem_stream_column(ch, s, from);
        if (s->in.arrival <= s->t && s->in.waiting < from->queue) {
            mem_enter(ch, &s->in, from, s->t);
            s->in.head++;
            mem_look(&s->in, from, s->t + 1);
        }
        s->t++;
        while (mem_is_steady(ch, s, from, w, b))
            b = mem_stream_steady(ch, s, from, w, b);
    }
}

/* The same on copies. Built once for each of the ways in which a run goes. */
DRAM_INLINE void mem_stream_as(struct dram_channel *ch, struct mem_stream *of, const struct mem_source *source,
                               struct mem_wheel *w, bool fates, bool device)
{
    struct mem_stream s = *of;
    struct mem_source from = *source;
    from.fates = fates;
    from.device = device;
    mem_stream_run(ch, &s, &from, w);
    *of = s;
}

static __attribute__((noinline)) void mem_stream_plain(struct dram_channel *ch, struct mem_stream *s,
                                                       const struct mem_source *from, struct mem_wheel *w)
{
    mem_stream_as(ch, s, from, w, false, false);
}

static __attribute__((noinline)) void mem_stream_device(struct dram_channel *ch, struct mem_stream *s,
                                                        const struct mem_source *from, struct mem_wheel *w)
{
    mem_stream_as(ch, s, from, w, false, true);
}

static __attribute__((noinline)) void mem_stream_fates(struct dram_channel *ch, struct mem_stream *s,
                                                       const struct mem_source *from, struct mem_wheel *w)
{
    mem_stream_as(ch, s, from, w, true, from->device);
}

/* What is the same for all reads of a run that began at cycle `begin`. */
DRAM_INLINE void mem_stream_end(struct dram_channel *ch, struct dram_mem *m, const struct mem_stream *s, int32_t begin)
{
    const int64_t n = s->out.count - m->out.count;
    if (n) {
        m->columns += n;
        m->ccd_ok = s->ccd_ok;
        m->rtw_ok = s->ccd_ok - ch->timing.ccd + ch->timing.rtw;
    }
    m->in = s->in;
    m->out = s->out;
    m->scan = s->scan;
    m->slot_sum = s->slot_sum;
    m->served += s->selected;
    m->hits += s->selected;
    m->due = s->reads;
    m->occupied = s->reads | s->asleep;
    for (unsigned banks = s->reads; banks; banks &= banks - 1)
        ch->slot_flags[__builtin_ctz(banks)] = 1;
    for (unsigned banks = s->taken; banks; banks &= banks - 1)
        m->streak = ch->bank[__builtin_ctz(banks)].same ? m->streak | (banks & -banks) : m->streak & ~(banks & -banks);
    const unsigned calm = s->t == begin ? m->calm / 2 : m->calm + (unsigned)(s->t - begin);
    m->calm = calm < MEM_CALMEST ? calm : MEM_CALMEST;
    m->stopped = s->t;
}

/* A run of reads from cycle t on. Returns the first cycle that is not done. */
DRAM_INLINE int32_t mem_stream(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *of,
                               struct mem_wheel *w, int32_t t)
{
    const unsigned reads = mem_banks(m->due, MEM_RD), asleep = m->occupied & ~reads;
    const int32_t wakes = asleep ? wheel_next(w, t - 1, INT32_MAX) : INT32_MAX;
    if (wakes <= t || !dram_legal_reads_begin(&ch->legal, &ch->timing, t)) {
        m->stopped = t;
        return t;
    }
    const struct mem_source from = *of;
    struct mem_stream s = {.in = m->in,
                           .out = m->out,
                           .t = t,
                           .wakes = wakes,
                           .scan = m->scan,
                           .ccd_ok = m->ccd_ok,
                           .reads = reads,
                           .asleep = asleep,
                           .active = m->active,
                           .single = ~m->longer & DRAM_ALL,
                           .slot_sum = m->slot_sum};
    if (of->fates)
        mem_stream_fates(ch, &s, &from, w);
    else if (of->device)
        mem_stream_device(ch, &s, &from, w);
    else
        mem_stream_plain(ch, &s, &from, w);
    mem_stream_end(ch, m, &s, t);
    return s.t;
}

#endif
