/* loop_select: which request goes into which slot. */
#ifndef MODELS_DRAM_LOOP_SELECT_H
#define MODELS_DRAM_LOOP_SELECT_H

#include "models/dram/dram_policy.h"
#include "models/dram/loop_queue.h"

/* A PIM request holds all slots: its commands are known when it is selected. */

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

/* Bank b's slot may go on from cycle `at`, as far as the bank is concerned; t is now. */
DRAM_INLINE void dram_set_ready(struct dram_channel *ch, int32_t t, int b, int32_t at)
{
    ch->ready[b] = at;
    if (at <= t) {
        ch->due |= DRAM_BANK(b);
    } else {
        ch->due &= ~(DRAM_BANK(b));
        ch->next_due = at < ch->next_due ? at : ch->next_due;
    }
}

/* A MEM request goes into the slot of its bank. */
DRAM_INLINE void dram_fill_slot(struct dram_channel *ch, int32_t t, int b, uint32_t row, uint32_t id, uint8_t flags,
                                bool hit)
{
    const dram_banks bit = DRAM_BANK(b);
    const bool write = flags & DRAM_IS_WRITE;
    ch->stats.accesses[DRAM_MEM]++;
    ch->stats.hits[DRAM_MEM] += hit;
    ch->occupied |= bit;
    ch->slot_row[b] = row;
    ch->slot_id[b] = id;
    ch->slot_flags[b] = flags;
    ch->slot_columns[b] = flags & DRAM_COLUMNS;
    if (ch->fate.sched)
        ch->fate.sched[id] = ch->base + t;
    if (ch->uniform)
        dram_channel_settle(ch);
    if (!(ch->active & bit)) {
        ch->want_act |= bit;
        dram_set_ready(ch, t, b, ch->act_ok[b]);
    } else if (ch->open_row[b] != row) {
        ch->want_pre |= bit;
        dram_set_ready(ch, t, b, dram_later(ch->pre_ok[b], ch->pim_wtp));
    } else if (write) {
        ch->want_wr |= bit;
        dram_set_ready(ch, t, b, ch->wr_ok[b]);
    } else {
        ch->want_rd |= bit;
        dram_set_ready(ch, t, b, ch->rd_ok[b]);
    }
}

/* FR-FCFS within a bank: the streak's oldest, else the open row's oldest, else the oldest. */
DRAM_INLINE void dram_take(struct dram_channel *ch, const struct dram_hooks *hooks, void *state, int32_t t, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    const dram_banks bit = DRAM_BANK(b);
    if (ch->stale & bit)
        dram_find_matches(ch, bit);
    int i;
    bool hit = true;
    if (ch->streak & bit) {
        i = __builtin_ctzll(q->same);
    } else if (q->match) {
        i = __builtin_ctzll(q->match);
        q->same = q->match;
    } else {
        i = __builtin_ctzll(q->live);
        q->same = dram_bank_find(q, q->live, q->rows[i]);
        hit = false;
    }
    const uint64_t at = UINT64_C(1) << i;
    const uint32_t seq = q->seqs[i];
    q->last_row = q->rows[i];
    q->live &= ~at;
    q->same &= ~at;
    q->match &= ~at;
    ch->streak = q->same ? ch->streak | bit : ch->streak & ~bit;
    ch->match = q->match ? ch->match | bit : ch->match & ~bit;
    ch->waiting[DRAM_MEM]--;
    if (hooks->served)
        hooks->served(state, ch, DRAM_MEM, q->rows[i], seq);
    dram_fill_slot(ch, t, b, q->rows[i], q->ids[i], q->flags[i], hit);
    if (q->live) {
        ch->head_seq[b] = q->seqs[__builtin_ctzll(q->live)];
        const bool older = ch->waiting[DRAM_PIM] && (int32_t)(ch->head_seq[b] - ch->pim.seqs[ch->pim.head]) < 0;
        ch->older = older ? ch->older | bit : ch->older & ~bit;
    } else {
        q->tail = 0;
        q->limit = 16;
        ch->pending &= ~bit;
        ch->older &= ~bit;
    }
}

DRAM_INLINE void dram_take_pim(struct dram_channel *ch, const struct dram_hooks *hooks, void *state, int32_t t)
{
    const uint32_t i = ch->pim.head, row = ch->pim.rows[i];
    ch->pim.head = (i + 1) % DRAM_QUEUES;
    ch->waiting[DRAM_PIM]--;
    if (hooks->served)
        hooks->served(state, ch, DRAM_PIM, row, ch->pim.seqs[i]);
    ch->older = ch->waiting[DRAM_PIM] ? lanes_before(ch->head_seq, ch->pim.seqs[ch->pim.head]) & ch->pending : 0;
    ch->stats.accesses[DRAM_PIM]++;
    ch->stats.hits[DRAM_PIM] += ch->uniform ? ch->uniform_row == row : lanes_eq(ch->open_row, row) != 0;
    dram_start_pim(ch, t, row, ch->pim.ids[i], ch->pim.flags[i]);
}

/* The banks as seen from bank `by` on. */
DRAM_INLINE dram_banks dram_round(const struct dram_channel *ch, dram_banks banks, int by)
{
    return (banks >> by | banks << (ch->width - by)) & ch->all;
}

/* The first of them in a scan from `prio` on. */
DRAM_INLINE int dram_first(const struct dram_channel *ch, dram_banks banks, int prio)
{
    const int b = prio + __builtin_ctzll(dram_round(ch, banks, prio));
    return b < ch->width ? b : b - ch->width;
}

/* Selection in MEM mode; whether anything changed: a request was taken, or the policy learnt which banks are idle. */
DRAM_INLINE bool dram_select_mem(struct dram_channel *ch, const struct dram_hooks *hooks, void *state, int32_t t)
{
    const dram_banks empty = ~ch->occupied & ch->all;
    const dram_banks can = empty & ch->pending & ~(hooks->stalled ? hooks->stalled(state) : 0);
    if (!can)
        return hooks->asked && hooks->asked(state, empty);
    const int step = __builtin_ctzll(dram_round(ch, can, ch->prio)), b = dram_first(ch, can, ch->prio);
    if (hooks->asked) {
        const dram_banks seen = dram_round(ch, empty, ch->prio) & dram_first_banks(step + 1);
        (void)hooks->asked(state, dram_round(ch, seen, ch->width - ch->prio));
    }
    ch->prio = ch->prio + 1 < ch->banks ? ch->prio + 1 : ch->prio + 1 - ch->banks;
    dram_take(ch, hooks, state, t, b);
    return true;
}

/* The head of the single queue goes if it can. */
DRAM_INLINE bool dram_select_fifo(struct dram_channel *ch, int32_t t)
{
    const uint32_t i = ch->fifo.head;
    if (!(ch->waiting[DRAM_MEM] + ch->waiting[DRAM_PIM]))
        return false;
    const uint32_t row = ch->fifo.rows[i];
    const uint8_t flags = ch->fifo.flags[i];
    const int b = ch->fifo.banks[i];
    if (flags & DRAM_IS_PIM ? ch->occupied != 0 : ch->occupied >> b & 1)
        return false;
    ch->fifo.head = (i + 1) % (2 * DRAM_QUEUES);
    if (flags & DRAM_IS_PIM) {
        ch->waiting[DRAM_PIM]--;
        ch->stats.accesses[DRAM_PIM] += DRAM_NARROW;
        ch->stats.hits[DRAM_PIM] += __builtin_popcountll(lanes_eq(ch->open_row, row));
        dram_start_pim(ch, t, row, ch->fifo.ids[i], flags);
    } else {
        ch->waiting[DRAM_MEM]--;
        dram_fill_slot(ch, t, b, row, ch->fifo.ids[i], flags, ch->open_row[b] == row);
    }
    return true;
}

#endif
