/* loop_pim: a PIM request holds all slots: its commands are known when it is selected. */
#ifndef MODELS_DRAM_LOOP_PIM_H
#define MODELS_DRAM_LOOP_PIM_H

#include "models/dram/loop_queue.h"

DRAM_INLINE void dram_complete(struct dram_channel *ch, uint32_t id, uint8_t flags, int32_t column, int32_t done)
{
    const enum dram_class class = flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    ch->stats.out[class]++;
    ch->stats.last_out[class] = ch->base + done;
    if (ch->fate.column)
        ch->fate.column[id] = ch->base + column;
    if (ch->fate.done)
        ch->fate.done[id] = ch->base + done;
    struct dram_completion *c = &ch->completions[ch->completion_tail++ % DRAM_COMPLETIONS];
    c->done = ch->base + done;
    c->id = id;
    c->flags = flags;
}

/* The row commands of a PIM request that takes all slots at t, when its row is not open everywhere: what closes, closes
 * together, then what is closed opens together. Nothing can come between, so their cycles are known now. */
DRAM_INLINE void dram_open_for_pim(struct dram_channel *ch, int32_t t, uint32_t row, uint32_t id)
{
    const struct dram_timing *tm = &ch->timing;
    unsigned closing = DRAM_ALL, closed = 0;
    int32_t precharge = 0, activate = t, act_ok;
    if (ch->uniform) {
        precharge = dram_later(dram_later(ch->uniform_act + tm->ras, ch->pim_wtp), t);
        act_ok = ch->uniform_act + tm->rc;
    } else {
        closing = (unsigned)ch->active & ~lanes_eq(ch->open_row, row);
        closed = (unsigned)~ch->active & DRAM_ALL;
        precharge = dram_later(dram_later(lanes_max(ch->pre_ok, closing), ch->pim_wtp), t);
        act_ok = lanes_max(ch->act_ok, closing | closed);
    }
    if (closing) {
        if (ch->rtpl_last > precharge)
            for (int g = 0; g < ch->groups; g++)
                if (closing & ch->group_banks[g] && ch->rtpl_ok[g] > precharge)
                    precharge = ch->rtpl_ok[g];
        if (__builtin_expect(ch->device.on, 0)) {
            precharge = dram_later(precharge, dram_later(ch->device.ppd_ok, ch->device.row_bus_ok));
            dram_device_gave(ch, DRAM_PRE, closing, 0, precharge);
        }
        activate = precharge + tm->rp;
        ch->stats.precharges++;
    }
    const unsigned opening = closing | closed;
    activate = dram_later(dram_later(activate, act_ok), ch->rrd_ok);
    if (__builtin_expect(ch->device.on, 0))
        activate = dram_later(activate, dram_later(ch->device.rrdl_last, ch->device.row_bus_ok));
    ch->stats.activates++;
    dram_legal_pim_rows(&ch->legal, tm, ch->group_of, closing, precharge, opening, activate, row);
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain_pim(ch, closing, precharge, opening, activate, row, id);
    ch->uniform = opening == DRAM_ALL;
    ch->uniform_act = activate;
    ch->uniform_row = row;
    if (!ch->uniform)
        for (unsigned m = opening; m; m &= m - 1) {
            const int b = __builtin_ctz(m);
            ch->rd_ok[b] = activate + tm->rcd;
            ch->wr_ok[b] = activate + tm->rcdwr;
            ch->pre_ok[b] = activate + tm->ras;
            ch->act_ok[b] = activate + tm->rc;
        }
    ch->rrd_ok = activate + tm->rrd;
    if (__builtin_expect(ch->device.on, 0))
        dram_device_gave(ch, DRAM_ACT, opening, row, activate);
    ch->active = DRAM_ALL;
    ch->prio = 0;
    ch->pim_activate = activate;
    ch->pim_opens = opening;
    ch->pim_row = row;
}

/* A PIM request takes all slots at t. */
DRAM_INLINE void dram_start_pim(struct dram_channel *ch, int32_t t, uint32_t row, uint32_t id, uint8_t flags)
{
    const struct dram_timing *tm = &ch->timing;
    if (ch->fate.sched)
        ch->fate.sched[id] = ch->base + t;
    if (__builtin_expect(ch->device.held != 0, 0))
        t = dram_device_finish(ch, t);
    const bool open =
        ch->uniform ? ch->uniform_row == row : ch->active == DRAM_ALL && lanes_eq(ch->open_row, row) == DRAM_ALL;
    if (!open)
        dram_open_for_pim(ch, t, row, id);
    const int32_t bank_ok = ch->uniform ? ch->uniform_act + tm->rcdwr : lanes_max(ch->wr_ok, DRAM_ALL);
    int32_t column = dram_later(dram_later(bank_ok, t), dram_later(ch->ccd_ok, ch->rtw_ok));
    column = dram_later(column, ch->ccdl_last);
    if (__builtin_expect(ch->device.on, 0)) {
        column = dram_later(column, ch->device.column_bus_ok);
        dram_device_gave(ch, DRAM_WR, DRAM_ALL, row, column);
    }
    dram_legal_pim(&ch->legal, tm, column, row);
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain(ch, column, "PIM", DRAM_ALL, row, id);
    ch->ccd_ok = column + tm->ccd;
    ch->ccdl_all = ch->ccdl_last = column + tm->ccdl;
    ch->wtr_ok = column + tm->wtr;
    ch->pim_wtp = column + tm->wtp;
    ch->stats.columns++;
    ch->pim_column = column;
    ch->occupied = DRAM_ALL;
    ch->pim_in_slots = true;
    dram_complete(ch, id, flags, column, column + tm->wl);
    ch->stats.out[DRAM_PIM]--; /* counted when the slots empty */
}

/* The PIM request's row appears in the registers of the banks it opened. */
DRAM_INLINE void dram_open_pim_row(struct dram_channel *ch)
{
    if (ch->pim_opens == DRAM_ALL)
        for (int b = 0; b < DRAM_NARROW; b++)
            ch->open_row[b] = ch->pim_row;
    else
        for (unsigned m = (unsigned)ch->pim_opens; m; m &= m - 1)
            ch->open_row[__builtin_ctz(m)] = ch->pim_row;
    ch->stale |= ch->pim_opens & ch->pending;
    ch->match &= ~ch->pim_opens;
    ch->pim_activate = INT32_MAX;
}

#endif
