/* loop_mem_single: a request that is alone in its channel; a part of models/dram/loop_mem.c. */
#ifndef MODELS_DRAM_LOOP_MEM_SINGLE_H
#define MODELS_DRAM_LOOP_MEM_SINGLE_H

#include "models/dram/loop_mem_issue.h"

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
    const int b = __builtin_ctz(m->in.pending), g = b & ch->group_mask;
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const int i = __builtin_ctzll(q->live);
    const bool hit = q->same != 0, write = q->flags[i] & DRAM_IS_WRITE;
    int32_t precharge, activate;
    const int32_t open = mem_single_open(ch, m, from, t, b, hit && m->active & m->in.pending, &precharge, &activate);
    const int32_t column = mem_single_column(ch, m, from, open, b, write, activate);
    if (m->in.arrival < column || column >= m->in.stop || (q->flags[i] & DRAM_COLUMNS) != 1)
        return t;
    const uint32_t row = q->rows[i], id = q->ids[i];
    q->live = q->same = 0;
    q->last_row = row;
    q->tail = 0;
    m->streak &= ~m->in.pending;
    m->in.pending = 0;
    m->in.waiting = 0;
    m->scan = mem_scan_on(m->scan, from);
    m->served++;
    m->hits += hit;
    m->slot_sum += column + 1 - t;
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
        m->scan = mem_scan_from(b + 1);
    }
    ch->slot_row[b] = row;
    const int32_t done = mem_column(ch, m, from, write, column, b);
    mem_done(ch, &m->out, from, id, column, done);
    return column + 1;
}

#endif
