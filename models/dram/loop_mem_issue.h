/* loop_mem_issue: the commands of a cycle, and the next cycle that matters; a part of models/dram/loop_mem.c. */
#ifndef MODELS_DRAM_LOOP_MEM_ISSUE_H
#define MODELS_DRAM_LOOP_MEM_ISSUE_H

#include "models/dram/loop_mem_queue.h"

enum { MEM_ACT = 8 }; /* see MEM_CALM */

/* --- commands --- */

/* A request took as many cycles from its arrival to the end of its data. */
DRAM_INLINE void mem_latency(struct mem_out *out, const struct mem_source *from, int64_t latency)
{
    out->latency_sum += latency;
    if (__builtin_expect(latency > out->latency_largest, 0))
        out->latency_largest = latency;
    from->buckets[(uint64_t)latency < LATENCY_EXACT ? (uint32_t)latency : dram_latency_bucket(latency)]++;
}

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
    mem_latency(out, from, from->base + done - from->requests[id].arrival);
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
    ch->stats.bank_columns[b]++;
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
    const bool write = m->want_wr & bit;
    const int32_t done = mem_column(ch, m, from, write, t, b);
    if (write)
        m->calm = 0;
    if (m->longer & bit) {
        if (--ch->slot_columns[b])
            return;
        m->longer &= ~bit;
    }
    m->occupied &= ~bit;
    m->want_rd &= ~bit;
    m->want_wr &= ~bit;
    m->due &= ~bit;
    m->slot_sum += t + 1;
    m->slot_cycles += m->occupied ? 0 : t + 1;
    mem_done(ch, &m->out, from, ch->slot_id[b], t, done);
}

DRAM_INLINE void mem_activate(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                              struct mem_wheel *w, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const unsigned bit = 1u << b;
    const bool write = m->writes & bit;
    dram_legal_act(&ch->legal, tm, t, b, ch->slot_row[b]);
    m->active |= bit;
    m->want_act &= ~bit;
    m->want_rd |= write ? 0 : bit;
    m->want_wr |= write ? bit : 0;
    m->rrd_ok = t + tm->rrd;
    if (from->device)
        m->rrd_ok = dram_later(m->rrd_ok, dram_device_gave_one(ch, DRAM_ACT, b, ch->slot_row[b], t));
    ch->open_row[b] = ch->slot_row[b];
    ch->rd_ok[b] = t + tm->rcd;
    ch->wr_ok[b] = t + tm->rcdwr;
    ch->pre_ok[b] = t + tm->ras;
    ch->act_ok[b] = t + tm->rc;
    mem_ready(m, w, t, bit, write ? t + tm->rcdwr : t + tm->rcd);
    m->activates++;
    m->calm = m->calm > MEM_ACT ? m->calm - MEM_ACT : 0;
    m->prio = (b + 1) & 15;
}

DRAM_INLINE void mem_precharge(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                               struct mem_wheel *w, int32_t t, int b)
{
    const unsigned bit = 1u << b;
    dram_legal_pre(&ch->legal, &ch->timing, t, b, b & ch->group_mask);
    if (from->device)
        (void)dram_device_gave_one(ch, DRAM_PRE, b, 0, t);
    m->active &= ~bit;
    m->want_pre &= ~bit;
    m->want_act |= bit;
    ch->act_ok[b] = dram_later(ch->act_ok[b], t + ch->timing.rp);
    mem_ready(m, w, t, bit, ch->act_ok[b]);
    m->precharges++;
    m->prio = (b + 1) & 15;
}

/* Column scan, then row scan: the first bank whose group allows it gets the command. */
DRAM_INLINE void mem_issue(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                           struct mem_wheel *w, int32_t t)
{
    const int prio = m->prio;
    unsigned columns = m->due & ((t >= m->wtr_ok ? m->want_rd : 0) | (t >= m->rtw_ok ? m->want_wr : 0));
    unsigned rows = m->due & (m->want_pre | (t >= m->rrd_ok ? m->want_act : 0));
    if (t < m->ccd_ok)
        columns = 0;
    if (from->device)
        columns = dram_device_columns(ch, t, columns, m->want_rd);
    while (columns) {
        const int b = mem_first(columns, prio), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] <= t) {
            mem_serve(ch, m, from, t, b);
            break;
        }
        columns &= ~(unsigned)ch->group_banks[g];
    }
    if (from->device) /* after the column command: it may hold the pins of both */
        rows = dram_device_rows(ch, t, rows, m->want_act);
    while (rows) {
        const int b = mem_first(rows, prio), g = b & ch->group_mask;
        if (m->want_act >> b & 1) {
            mem_activate(ch, m, from, w, t, b);
            break;
        }
        if (ch->rtpl_ok[g] <= t) {
            mem_precharge(ch, m, from, w, t, b);
            break;
        }
        rows &= ~(m->want_pre & ch->group_banks[g]);
    }
}

/* The first cycle after t at which something may happen if nothing enters; INT32_MAX: none. */
DRAM_INLINE int32_t mem_next(const struct dram_channel *ch, const struct dram_mem *m, const struct mem_source *from,
                             const struct mem_wheel *w, int32_t t)
{
    if (m->in.pending & ~m->occupied || m->due & m->want_pre)
        return t + 1;
    int32_t next = INT32_MAX;
    if (m->due) {
        const int32_t ccd = from->device ? dram_later(m->ccd_ok, ch->device.column_bus_ok) : m->ccd_ok;
        const int32_t rd = dram_later(m->wtr_ok, ccd), wr = dram_later(m->rtw_ok, ccd);
        next = m->due & m->want_act ? from->device ? dram_later(m->rrd_ok, ch->device.row_bus_ok) : m->rrd_ok : next;
        next = m->due & m->want_rd && rd < next ? rd : next;
        next = m->due & m->want_wr && wr < next ? wr : next;
        if (next <= t + 1)
            return t + 1;
    }
    const int32_t at = wheel_next(w, t);
    return at < next ? at : next;
}

#endif
