/* loop_mem_hits: runs of reads of open rows, and a request that is alone; a part of models/dram/loop_mem.c. */
#ifndef MODELS_DRAM_LOOP_MEM_HITS_H
#define MODELS_DRAM_LOOP_MEM_HITS_H

#include "models/dram/loop_mem_issue.h"

/* dram_mem.calm: runs of reads are looked for from MEM_CALM on. It grows by the cycle while there are any; an ACT takes
 * MEM_ACT away, a run of no cycles half, a write all. */
enum { MEM_CALM = 8, MEM_CALMEST = 64 };

/* --- reads of open rows --- */

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
    return m->calm >= MEM_CALM && t != m->stopped && !(m->due & (~m->want_rd | m->longer)) && m->asked == DRAM_ALL &&
           t >= m->wtr_ok && m->due | (m->pending & ~m->occupied) && (!from->device || mem_device_streams(ch, t));
}

/* Select bank b's next request at t; false, and nothing is done, if it is no single read of the open row. */
DRAM_INLINE bool mem_stream_take(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t,
                                 int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const uint64_t same = q->same;
    const int i = __builtin_ctzll(same | UINT64_C(1) << 63);
    if (from->device && !(m->active >> b & 1))
        return false;
    if (!same || q->flags[i] != 1 || ch->rd_ok[b] > t)
        return false;
    const unsigned bit = 1u << b;
    const uint64_t live = q->live & ~(UINT64_C(1) << i);
    q->same = same & (same - 1);
    q->live = live;
    if (!live) {
        q->tail = 0;
        m->pending &= ~bit;
    }
    ch->slot_id[b] = q->ids[i];
    ch->slot_row[b] = q->rows[i];
    if (from->fates && ch->fate.sched)
        ch->fate.sched[q->ids[i]] = from->base + t;
    m->prio = (m->prio + 1) & from->bank_mask;
    m->occupied |= bit;
    m->slot_sum -= t;
    m->waiting--;
    return true;
}

/* The column command of cycle t to one of the reads, if a group allows one; returns the reads that are left. */
DRAM_INLINE unsigned mem_stream_column(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                                       unsigned reads, int32_t t)
{
    const struct dram_timing *tm = &ch->timing;
    unsigned columns = t < m->ccd_ok ? 0 : reads;
    while (columns) {
        const int b = mem_first(columns, m->prio), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] > t) {
            columns &= ~(unsigned)ch->group_banks[g];
            continue;
        }
        dram_legal_rd_again(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        if (from->device)
            (void)dram_device_gave_one(ch, DRAM_RD, b, ch->slot_row[b], t);
        m->ccd_ok = t + tm->ccd;
        ch->ccdl_ok[g] = t + tm->ccdl;
        ch->rtpl_ok[g] = t + tm->rtpl;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->rtp);
        m->occupied &= ~(1u << b);
        m->slot_sum += t + 1;
        mem_done(ch, m, from, ch->slot_id[b], t, t + tm->cl);
        return reads & ~(1u << b);
    }
    return reads;
}

/* What is the same for all reads of a run that gave `n` of them, the first not before cycle `begin`. */
DRAM_INLINE void mem_stream_end(struct dram_channel *ch, struct dram_mem *m, unsigned taken, unsigned reads, int64_t n,
                                int64_t selected, int32_t begin, int32_t t)
{
    if (n) {
        m->columns += n;
        m->rtw_ok = m->ccd_ok - ch->timing.ccd + ch->timing.rtw;
    }
    m->served[1] += selected;
    m->want_rd = (m->want_rd & ~m->due) | reads;
    m->due = reads;
    m->writes &= ~reads;
    for (unsigned banks = reads; banks; banks &= banks - 1)
        ch->slot_flags[__builtin_ctz(banks)] = ch->slot_columns[__builtin_ctz(banks)] = 1;
    for (unsigned banks = taken; banks; banks &= banks - 1)
        m->streak = ch->bank[__builtin_ctz(banks)].same ? m->streak | (banks & -banks) : m->streak & ~(banks & -banks);
    const int calm = t == begin ? m->calm / 2 : m->calm + (t - begin);
    m->calm = calm < MEM_CALMEST ? calm : MEM_CALMEST;
    m->stopped = t;
}

/* The cycles from t on, for as long as each request that is selected is a single read of its bank's open row and no
 * other slot wakes: then no row command and no turnaround comes in between. Returns the first cycle that is not done.
 */
DRAM_INLINE int32_t mem_stream(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                               const struct mem_wheel *w, int32_t t)
{
    const int32_t begin = t, wakes = wheel_next(w, t - 1);
    const int64_t out = m->out;
    unsigned reads = m->due, taken = 0;
    int64_t selected = 0;
    if (wakes <= t || !dram_legal_reads_begin(&ch->legal, &ch->timing, t)) {
        m->stopped = t;
        return t;
    }
    m->visits -= t;
    m->slot_cycles += m->occupied ? t : 0;
    for (; t < m->stop && t < wakes && reads | (m->pending & ~m->occupied); t++) {
        const unsigned can = m->pending & ~m->occupied;
        if (can) {
            const int b = mem_first(can, m->prio);
            if (!mem_stream_take(ch, m, from, t, b))
                break;
            reads |= 1u << b;
            taken |= 1u << b;
            selected++;
        }
        m->slot_cycles += m->occupied != 0;
        reads = mem_stream_column(ch, m, from, reads, t);
        if (m->arrival <= t && m->waiting < from->queue) {
            mem_enter(ch, m, from, t);
            m->head++;
            mem_look(m, from, t + 1);
        }
    }
    m->visits += t;
    m->slot_cycles -= m->occupied ? t : 0;
    mem_stream_end(ch, m, taken, reads, m->out - out, selected, begin, t);
    return t;
}

/* The same on copies, so that neither loop costs the other registers. Built once for each of the ways in which a run
 * goes, see mem_run_as(). */
DRAM_INLINE int32_t mem_stream_as(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *of,
                                  const struct mem_wheel *w, int32_t t, bool fates, bool device)
{
    struct dram_mem own = *m;
    struct mem_source from = *of;
    from.fates = fates;
    from.device = device;
    t = mem_stream(ch, &own, &from, w, t);
    *m = own;
    return t;
}

static __attribute__((noinline)) int32_t mem_stream_plain(struct dram_channel *ch, struct dram_mem *m,
                                                          const struct mem_source *from, const struct mem_wheel *w,
                                                          int32_t t)
{
    return mem_stream_as(ch, m, from, w, t, false, false);
}

static __attribute__((noinline)) int32_t mem_stream_device(struct dram_channel *ch, struct dram_mem *m,
                                                           const struct mem_source *from, const struct mem_wheel *w,
                                                           int32_t t)
{
    return mem_stream_as(ch, m, from, w, t, false, true);
}

static __attribute__((noinline)) int32_t mem_stream_fates(struct dram_channel *ch, struct dram_mem *m,
                                                          const struct mem_source *from, const struct mem_wheel *w,
                                                          int32_t t)
{
    return mem_stream_as(ch, m, from, w, t, true, from->device);
}

DRAM_INLINE int32_t mem_stream_apart(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                                     const struct mem_wheel *w, int32_t t)
{
    struct dram_mem copy = *m;
    const struct mem_source source = *from;
    if (from->fates)
        t = mem_stream_fates(ch, &copy, &source, w, t);
    else if (from->device)
        t = mem_stream_device(ch, &copy, &source, w, t);
    else
        t = mem_stream_plain(ch, &copy, &source, w, t);
    *m = copy;
    return t;
}

/* --- a request alone --- */

/* The cycles of the commands that bring bank b to the row of its slot, from t on; returns the earliest of a column. */
DRAM_INLINE int32_t mem_single_open(const struct dram_channel *ch, const struct dram_mem *m,
                                    const struct mem_source *from, int32_t t, int b, bool hit, int32_t *precharge,
                                    int32_t *activate)
{
    const struct dram_timing *tm = &ch->timing;
    const struct dram_device *d = &ch->device;
    const int g = b & ch->group_mask;
    *precharge = *activate = -1;
    if (hit)
        return t;
    int32_t at = from->device ? dram_later(t, d->row_bus_ok) : t;
    if (m->active >> b & 1) {
        at = dram_later(at, dram_later(ch->pre_ok[b], ch->rtpl_ok[g]));
        if (from->device)
            at = dram_later(at, d->ppd_ok);
        *precharge = at;
        at += from->device ? dram_later(tm->rp, tm->pre_bus) : tm->rp;
    }
    at = dram_later(at, dram_later(ch->act_ok[b], m->rrd_ok));
    if (from->device)
        at = dram_later(at, d->rrdl_ok[g]);
    *activate = at;
    return at;
}

/* The first cycle from `at` on at which a column of bank b may go; activate: its ACT, or -1. */
DRAM_INLINE int32_t mem_single_column(const struct dram_channel *ch, const struct dram_mem *m,
                                      const struct mem_source *from, int32_t at, int b, bool write, int32_t activate)
{
    const struct dram_timing *tm = &ch->timing;
    const struct dram_device *d = &ch->device;
    const int g = b & ch->group_mask;
    at = activate < 0 ? dram_later(at, write ? ch->wr_ok[b] : ch->rd_ok[b]) : at + (write ? tm->rcdwr : tm->rcd);
    at = dram_later(at, dram_later(m->ccd_ok, ch->ccdl_ok[g]));
    at = dram_later(at, write ? m->rtw_ok : m->wtr_ok);
    if (!from->device)
        return at;
    if (!write)
        at = dram_later(at, d->wtrl_ok[g]);
    if (tm->single_bus && activate >= 0)
        at = dram_later(at, activate + tm->act_bus);
    return dram_later(at, d->column_bus_ok);
}

/* All of the only request of the channel, selected at t, if nothing else can enter before its column command. Returns
 * the cycle after that command, or t if this is not so. */
DRAM_INLINE int32_t mem_single(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t)
{
    const struct dram_timing *tm = &ch->timing;
    const int b = __builtin_ctz(m->pending), g = b & ch->group_mask;
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const int i = __builtin_ctzll(q->live);
    const bool hit = q->same != 0, write = q->flags[i] & DRAM_IS_WRITE;
    int32_t precharge, activate;
    const int32_t open = mem_single_open(ch, m, from, t, b, hit && m->active & m->pending, &precharge, &activate);
    const int32_t column = mem_single_column(ch, m, from, open, b, write, activate);
    if (m->arrival < column || column >= m->stop || (q->flags[i] & DRAM_COLUMNS) != 1)
        return t;
    const uint32_t row = q->rows[i], id = q->ids[i];
    q->live = q->same = 0;
    q->last_row = row;
    q->tail = 0;
    m->streak &= ~m->pending;
    m->pending = 0;
    m->waiting = 0;
    m->prio = (m->prio + 1) & from->bank_mask;
    m->served[hit + 2 * write]++;
    m->slot_sum += column + 1 - t;
    m->slot_cycles += column + 1 - t;
    if (from->fates && ch->fate.sched)
        ch->fate.sched[id] = from->base + t;
    if (activate >= 0) {
        if (precharge >= 0) {
            dram_legal_pre(&ch->legal, tm, precharge, b, g);
            if (from->device)
                (void)dram_device_gave_one(ch, DRAM_PRE, b, 0, precharge);
            m->precharges++;
        }
        dram_legal_act(&ch->legal, tm, activate, b, row);
        m->active |= 1u << b;
        m->rrd_ok = activate + tm->rrd;
        if (from->device)
            m->rrd_ok = dram_later(m->rrd_ok, dram_device_gave_one(ch, DRAM_ACT, b, row, activate));
        ch->open_row[b] = row;
        ch->rd_ok[b] = activate + tm->rcd;
        ch->wr_ok[b] = activate + tm->rcdwr;
        ch->pre_ok[b] = activate + tm->ras;
        ch->act_ok[b] = activate + tm->rc;
        m->activates++;
        m->prio = (b + 1) & 15;
    }
    ch->slot_row[b] = row;
    const int32_t done = mem_column(ch, m, from, write, column, b);
    mem_done(ch, m, from, id, column, done);
    return column + 1;
}

#endif
