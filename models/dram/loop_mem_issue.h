/* loop_mem_issue: the commands of a cycle, and the next cycle that matters; a part of models/dram/loop_mem.c. */
#ifndef MODELS_DRAM_LOOP_MEM_ISSUE_H
#define MODELS_DRAM_LOOP_MEM_ISSUE_H

#include "models/dram/loop_mem_queue.h"

enum { MEM_ACT_CALMS = 2 }; /* see MEM_CALM */

/* --- commands --- */

/* A request had its last column command at t. */
DRAM_INLINE void mem_done(struct dram_channel *ch, struct mem_out *out, const struct mem_source *from, uint32_t id,
                          int32_t t, int32_t done)
{
    out->count++;
    out->last = done;
    if (from->fates && ch->fate.column)
        ch->fate.column[id] = from->base + t;
    if (from->fates && ch->fate.done)
        ch->fate.done[id] = from->base + done;
    out->latency_sum += from->base + done - from->requests[id].arrival;
}

/* A column command to bank b at t, for the row of its slot; returns when its data end. */
DRAM_INLINE int32_t mem_column(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, bool write,
                               int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const int g = b & ch->group_mask;
    m->ccd_ok = t + tm->ccd;
    ch->ccdl_ok[g] = t + tm->ccdl;
    m->columns++;
    if (from->device)
        (void)dram_device_gave_one(ch, write ? DRAM_WR : DRAM_RD, b, ch->slot_row[b], t);
    if (write) {
        dram_legal_wr(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        m->wtr_ok = t + tm->wtr;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->wtp);
        return t + tm->wl;
    }
    dram_legal_rd(&ch->legal, tm, t, b, g, ch->slot_row[b]);
    m->rtw_ok = t + tm->rtw;
    ch->rtpl_ok[g] = t + tm->rtpl;
    ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->rtp);
    return t + tm->cl;
}

/* The column command of the slot of bank b; it empties with its last. */
DRAM_INLINE void mem_serve(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t, int b)
{
    const unsigned bit = 1u << b;
    const bool write = ch->slot_flags[b] & DRAM_IS_WRITE;
    const int32_t done = mem_column(ch, m, from, write, t, b);
    if (write)
        m->calm = 0;
    if (__builtin_expect(m->longer & bit, 0)) {
        if (--ch->slot_columns[b])
            return;
        m->longer &= ~bit;
    }
    m->due &= ~((mem_slot(MEM_RD, 0) | mem_slot(MEM_WR, 0)) << b);
    m->occupied &= ~bit;
    m->slot_sum += t + 1;
    mem_done(ch, &m->out, from, ch->slot_id[b], t, done);
}

DRAM_INLINE void mem_activate(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                              struct mem_wheel *w, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const uint32_t row = ch->slot_row[b];
    dram_legal_act(&ch->legal, tm, t, b, row);
    m->active |= 1u << b;
    m->due ^= mem_slot(MEM_ACT, b);
    m->rrd_ok = t + tm->rrd;
    if (from->device)
        m->rrd_ok = dram_later(m->rrd_ok, dram_device_gave_one(ch, DRAM_ACT, b, row, t));
    ch->open_row[b] = row;
    ch->rd_ok[b] = t + tm->rcd;
    ch->wr_ok[b] = t + tm->rcdwr;
    ch->pre_ok[b] = t + tm->ras;
    ch->act_ok[b] = t + tm->rc;
    if (ch->slot_flags[b] & DRAM_IS_WRITE)
        mem_ready(m, w, t, mem_slot(MEM_WR, b), t + tm->rcdwr);
    else
        mem_ready(m, w, t, mem_slot(MEM_RD, b), t + tm->rcd);
    m->activates++;
    m->calm /= MEM_ACT_CALMS;
    m->scan = mem_scan_from(b + 1);
}

DRAM_INLINE void mem_precharge(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                               struct mem_wheel *w, int32_t t, int b)
{
    dram_legal_pre(&ch->legal, &ch->timing, t, b, b & ch->group_mask);
    if (from->device)
        (void)dram_device_gave_one(ch, DRAM_PRE, b, 0, t);
    m->active &= ~(1u << b);
    m->due ^= mem_slot(MEM_PRE, b);
    ch->act_ok[b] = dram_later(ch->act_ok[b], t + ch->timing.rp);
    mem_ready(m, w, t, mem_slot(MEM_ACT, b), ch->act_ok[b]);
    m->precharges++;
    m->scan = mem_scan_from(b + 1);
}

/* The column scan: the first bank whose group allows it gets its command; whether one did. */
DRAM_INLINE bool mem_issue_column(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t,
                                  unsigned scan)
{
    if (__builtin_expect(t < m->ccd_ok, 0))
        return false;
    unsigned columns =
        (t >= m->wtr_ok ? mem_banks(m->due, MEM_RD) : 0) | (t >= m->rtw_ok ? mem_banks(m->due, MEM_WR) : 0);
    if (from->device)
        columns = (unsigned)dram_device_columns(ch, t, columns, mem_banks(m->due, MEM_RD));
    while (columns) {
        const int b = mem_first(columns, scan), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] <= t) {
            mem_serve(ch, m, from, t, b);
            return true;
        }
        columns &= ~(unsigned)ch->group_banks[g];
    }
    return false;
}

/* The row scan. */
DRAM_INLINE bool mem_issue_row(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                               struct mem_wheel *w, int32_t t, unsigned scan)
{
    const unsigned acts = mem_banks(m->due, MEM_ACT);
    unsigned rows = mem_banks(m->due, MEM_PRE) | (t >= m->rrd_ok ? acts : 0);
    if (from->device) /* after the column command: it may hold the pins of both */
        rows = (unsigned)dram_device_rows(ch, t, rows, acts);
    while (rows) {
        const int b = mem_first(rows, scan), g = b & ch->group_mask;
        if (acts >> b & 1) {
            if (__builtin_expect(ch->act_ok[b] <= t, 1)) {
                mem_activate(ch, m, from, w, t, b);
                return true;
            }
            m->due &= ~mem_slot(MEM_ACT, b);
            mem_ready_to_act(m, w, t, b, ch->act_ok[b]);
            rows &= ~(1u << b);
        } else if (ch->rtpl_ok[g] <= t) {
            mem_precharge(ch, m, from, w, t, b);
            return true;
        } else {
            rows &= acts | ~(unsigned)ch->group_banks[g];
        }
    }
    return false;
}

/* The commands of cycle t; whether there was one. */
DRAM_INLINE bool mem_issue(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                           struct mem_wheel *w, int32_t t)
{
    const unsigned scan = m->scan;
    bool gave = false;
    if ((uint32_t)m->due) /* a column command */
        gave = mem_issue_column(ch, m, from, t, scan);
    if (m->due >> DRAM_NARROW * MEM_ACT)
        gave |= mem_issue_row(ch, m, from, w, t, scan);
    return gave;
}

/* Nothing happened at t: the first cycle after it at which something may if nothing enters; INT32_MAX: none. */
DRAM_INLINE int32_t mem_next(const struct dram_channel *ch, const struct dram_mem *m, const struct mem_source *from,
                             const struct mem_wheel *w, int32_t t)
{
    if (!m->occupied)
        return INT32_MAX;
    if (mem_banks(m->due, MEM_PRE))
        return t + 1;
    int32_t next = INT32_MAX;
    if (mem_banks(m->due, MEM_ACT))
        next = from->device ? dram_later(m->rrd_ok, ch->device.row_bus_ok) : m->rrd_ok;
    if ((uint32_t)m->due) {
        const int32_t ccd = from->device ? dram_later(m->ccd_ok, ch->device.column_bus_ok) : m->ccd_ok;
        const int32_t rd = dram_later(m->wtr_ok, ccd), wr = dram_later(m->rtw_ok, ccd);
        next = mem_banks(m->due, MEM_RD) && rd < next ? rd : next;
        next = mem_banks(m->due, MEM_WR) && wr < next ? wr : next;
    }
    return next > t + 1 ? wheel_next(w, t, next) : t + 1;
}

#endif
