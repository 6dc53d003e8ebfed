/* controller: simulates one cycle of a channel under one policy: requests enter, one is selected, commands go out.
 *
 * Everything is inlined with a policy's constant hooks (models/dram/loop.h). */
#pragma once

#include "models/dram/dram_policy.h"
#include "models/dram/lanes.h"

#define DRAM_INLINE static inline __attribute__((always_inline))

/* --- entering --- */

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
    if (ch->timestamps.enter)
        ch->timestamps.enter[id] = ch->base + t;
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

/* --- selection --- */

/* A PIM request holds all slots: its commands are known when it is selected. */

DRAM_INLINE void dram_complete(struct dram_channel *ch, uint32_t id, uint8_t flags, int32_t column, int32_t done)
{
    const enum dram_class class = flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    ch->stats.out[class]++;
    ch->stats.last_out[class] = ch->base + done;
    if (ch->timestamps.column)
        ch->timestamps.column[id] = ch->base + column;
    if (ch->timestamps.done)
        ch->timestamps.done[id] = ch->base + done;
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
    if (__builtin_expect(ch->explain > 0, 0)) {
        if (closing)
            dram_channel_explain(ch, precharge, "PRE", closing, row, id);
        dram_channel_explain(ch, activate, "ACT", opening, row, id);
    }
    ch->uniform = opening == DRAM_ALL;
    ch->uniform_act = activate;
    ch->uniform_row = row;
    if (!ch->uniform)
        for (unsigned m = opening; m; m &= m - 1)
            dram_opened(ch, __builtin_ctz(m), activate);
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
    if (ch->timestamps.sched)
        ch->timestamps.sched[id] = ch->base + t;
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
    if (ch->timestamps.sched)
        ch->timestamps.sched[id] = ch->base + t;
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
    if (hooks->on_issue)
        hooks->on_issue(state, ch, DRAM_MEM, q->rows[i], seq);
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
    if (hooks->on_issue)
        hooks->on_issue(state, ch, DRAM_PIM, row, ch->pim.seqs[i]);
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

/* Selects a request in MEM mode. Returns whether a request was issued or on_scan() got a new bank. */
DRAM_INLINE bool dram_select_mem(struct dram_channel *ch, const struct dram_hooks *hooks, void *state, int32_t t)
{
    const dram_banks empty = ~ch->occupied & ch->all;
    const dram_banks can = empty & ch->pending & ~(hooks->stalled_banks ? hooks->stalled_banks(state) : 0);
    if (!can)
        return hooks->on_scan && hooks->on_scan(state, empty);
    const int step = __builtin_ctzll(dram_round(ch, can, ch->prio)), b = dram_first(ch, can, ch->prio);
    if (hooks->on_scan) {
        const dram_banks seen = dram_round(ch, empty, ch->prio) & dram_first_banks(step + 1);
        (void)hooks->on_scan(state, dram_round(ch, seen, ch->width - ch->prio));
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

/* --- what a device of more rules allows, and what a command to one bank blocks (models/dram/channel.h) --- */

/* Banks of groups whose time in `ok` has not come. */
DRAM_INLINE dram_banks dram_blocked_banks(const struct dram_channel *ch, const int32_t *ok, int32_t t)
{
    dram_banks blocked = ok == ch->ccdl_ok && ch->ccdl_all > t ? ch->all : 0;
    for (int g = 0; g < ch->groups; g++)
        blocked |= ok[g] > t ? ch->group_banks[g] : 0;
    return blocked;
}

/* Of banks whose column command is otherwise legal at t (`reads`: those that want RD), those that may get it. */
DRAM_INLINE dram_banks dram_device_columns(const struct dram_channel *ch, int32_t t, dram_banks banks, dram_banks reads)
{
    const struct dram_device *d = &ch->device;
    if (d->column_bus_ok > t)
        return 0;
    banks &= ~d->held;
    if (d->ccdr_ok > t)
        banks &= ~reads | ch->stack_banks[d->stack];
    if (banks & reads && d->wtrl_last > t)
        banks &= ~(reads & dram_blocked_banks(ch, d->wtrl_ok, t));
    return banks;
}

/* The same of row commands; `acts`: those that want ACT. */
DRAM_INLINE dram_banks dram_device_rows(const struct dram_channel *ch, int32_t t, dram_banks banks, dram_banks acts)
{
    const struct dram_device *d = &ch->device;
    if (d->row_bus_ok > t)
        return 0;
    banks &= ~d->held;
    if (d->ppd_ok > t)
        banks &= acts;
    if (banks & acts && d->rrdl_last > t)
        banks &= ~(acts & dram_blocked_banks(ch, d->rrdl_ok, t));
    return banks;
}

/* A command to bank b at t. Returns the cycle from which on tFAW allows an ACT: of ACT; else 0. */
DRAM_INLINE int32_t dram_device_gave_one(struct dram_channel *ch, enum dram_command command, int b, uint32_t row,
                                         int32_t t)
{
    struct dram_device *d = &ch->device;
    const struct dram_timing *tm = &ch->timing;
    const int g = ch->group_of[b];
    command_checker_one(&d->watch, command, b, g, row, ch->base + t);
    dram_device_hold_bus(d, tm, command, t);
    switch (command) {
    case DRAM_ACT:
        d->act[d->acts++ & 3] = t;
        d->rrdl_ok[g] = d->rrdl_last = t + tm->rrdl;
        d->refresh_ok = dram_later(d->refresh_ok, t + tm->rrd);
        return tm->faw ? d->act[d->acts & 3] + tm->faw : 0;
    case DRAM_PRE:
        d->ppd_ok = t + tm->ppd;
        d->precharged_ok = t + tm->rp_refresh;
        return 0;
    case DRAM_RD:
        if (tm->ccdr) {
            d->stack = ch->stack_of[b];
            d->ccdr_ok = t + tm->ccdr;
        }
        return 0;
    case DRAM_WR:
        d->wtrl_ok[g] = d->wtrl_last = t + tm->wtrl;
        return 0;
    default:
        return 0;
    }
}

/* --- commands --- */

/* To the MEM slots, one column and one row command a cycle at most. */

DRAM_INLINE void dram_column(struct dram_channel *ch, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const dram_banks bit = DRAM_BANK(b);
    const int g = ch->group_of[b];
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain(ch, t, ch->want_rd & bit ? "RD" : "WR", bit, ch->slot_row[b], ch->slot_id[b]);
    ch->ccd_ok = t + tm->ccd;
    ch->ccdl_ok[g] = ch->ccdl_last = t + tm->ccdl;
    ch->stats.columns++;
    int32_t done;
    if (ch->want_rd & bit) {
        dram_legal_rd(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        ch->rtw_ok = t + tm->rtw;
        ch->rtpl_ok[g] = ch->rtpl_last = t + tm->rtpl;
        if (t + tm->rtp > ch->pre_ok[b])
            ch->pre_ok[b] = t + tm->rtp;
        done = t + tm->cl;
    } else {
        dram_legal_wr(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        ch->wtr_ok = t + tm->wtr;
        if (t + tm->wtp > ch->pre_ok[b])
            ch->pre_ok[b] = t + tm->wtp;
        done = t + tm->wl;
    }
    if (__builtin_expect(ch->device.on, 0))
        (void)dram_device_gave_one(ch, ch->want_rd & bit ? DRAM_RD : DRAM_WR, b, ch->slot_row[b], t);
    if (--ch->slot_columns[b])
        return;
    ch->occupied &= ~bit;
    ch->want_rd &= ~bit;
    ch->want_wr &= ~bit;
    ch->due &= ~bit;
    ch->ready[b] = INT32_MAX;
    dram_complete(ch, ch->slot_id[b], ch->slot_flags[b], t, done);
}

DRAM_INLINE void dram_activate(struct dram_channel *ch, bool fifo, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const dram_banks bit = DRAM_BANK(b);
    const uint32_t row = ch->slot_row[b];
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain(ch, t, "ACT", bit, row, ch->slot_id[b]);
    dram_legal_act(&ch->legal, tm, t, b, row);
    ch->active |= bit;
    ch->want_act &= ~bit;
    ch->open_row[b] = row;
    ch->rrd_ok = t + tm->rrd;
    dram_opened(ch, b, t);
    if (__builtin_expect(ch->device.on, 0))
        ch->rrd_ok = dram_later(ch->rrd_ok, dram_device_gave_one(ch, DRAM_ACT, b, row, t));
    if (ch->slot_flags[b] & DRAM_IS_WRITE) {
        ch->want_wr |= bit;
        dram_set_ready(ch, t, b, t + tm->rcdwr);
    } else {
        ch->want_rd |= bit;
        dram_set_ready(ch, t, b, t + tm->rcd);
    }
    if (!fifo) { /* the slot's row is the row selected last: its waiting requests are known */
        struct dram_bank_queue *q = &ch->bank[b];
        q->match = q->same;
        ch->match = q->same ? ch->match | bit : ch->match & ~bit;
        ch->stale &= ~bit;
    }
    ch->stats.activates++;
    ch->prio = b + 1 < ch->width ? b + 1 : 0;
}

DRAM_INLINE void dram_precharge(struct dram_channel *ch, int32_t t, int b)
{
    const dram_banks bit = DRAM_BANK(b);
    if (__builtin_expect(ch->explain > 0, 0))
        dram_channel_explain(ch, t, "PRE", bit, ch->open_row[b], ch->slot_id[b]);
    dram_legal_pre(&ch->legal, &ch->timing, t, b, ch->group_of[b]);
    ch->active &= ~bit;
    ch->want_pre &= ~bit;
    ch->want_act |= bit;
    if (t + ch->timing.rp > ch->act_ok[b])
        ch->act_ok[b] = t + ch->timing.rp;
    if (__builtin_expect(ch->device.on, 0))
        (void)dram_device_gave_one(ch, DRAM_PRE, b, 0, t);
    dram_set_ready(ch, t, b, ch->act_ok[b]);
    ch->stats.precharges++;
    ch->prio = b + 1 < ch->width ? b + 1 : 0;
}

/* Column scan, then row scan; whether a command was given. */
DRAM_INLINE bool dram_issue(struct dram_channel *ch, const struct dram_hooks *hooks, int32_t t)
{
    if (t >= ch->next_due) {
        ch->due |= lanes_le(ch->ready, t);
        ch->next_due = lanes_next(ch->ready, t);
        for (int b = DRAM_NARROW; b < ch->banks; b += DRAM_NARROW) {
            const int32_t next = lanes_next(&ch->ready[b], t);
            ch->due |= (dram_banks)lanes_le(&ch->ready[b], t) << b;
            ch->next_due = next < ch->next_due ? next : ch->next_due;
        }
    }
    const dram_banks due = ch->due;
    if (!due && !ch->device.held)
        return false;
    bool gave = false;
    dram_banks columns = 0;
    if (t >= ch->ccd_ok) {
        columns = due & ((t >= ch->wtr_ok ? ch->want_rd : 0) | (t >= ch->rtw_ok ? ch->want_wr : 0));
        if (columns && ch->ccdl_last > t)
            columns &= ~dram_blocked_banks(ch, ch->ccdl_ok, t);
    }
    if (__builtin_expect(ch->device.on, 0))
        columns = dram_device_columns(ch, t, columns, ch->want_rd);
    const int prio = ch->prio;
    if (columns) {
        dram_column(ch, t, dram_first(ch, columns, prio));
        gave = true;
    }
    dram_banks rows = due & (ch->want_pre | (t >= ch->rrd_ok ? ch->want_act : 0));
    if (rows & ch->want_pre && ch->rtpl_last > t)
        rows &= ~(ch->want_pre & dram_blocked_banks(ch, ch->rtpl_ok, t));
    if (__builtin_expect(ch->device.on, 0)) {
        if (dram_device_refresh(ch, t))
            return true;
        rows = dram_device_rows(ch, t, rows, ch->want_act);
    }
    if (rows) {
        const int b = dram_first(ch, rows, prio);
        if (ch->want_act >> b & 1)
            dram_activate(ch, hooks->fifo, t, b);
        else
            dram_precharge(ch, t, b);
        gave = true;
    }
    return gave;
}

/* n cycles pass with the state as it is. */
DRAM_INLINE void dram_count(struct dram_channel *ch, int64_t n)
{
    struct dram_stats *s = &ch->stats;
    const int64_t slots = __builtin_popcountll(ch->occupied), any = ch->occupied ? n : 0;
    s->slot_sum += n * slots;
    s->slot_cycles += any;
    if (!ch->pim_in_slots && ch->mode == DRAM_PIM)
        s->drain += any;
}

/* Returns the next cycle in which the policy itself may change something. */
DRAM_INLINE int64_t dram_policy_next_change(const struct dram_channel *ch, const struct dram_hooks *hooks, void *state,
                                            int64_t now)
{
    const int64_t next = hooks->next_change ? hooks->next_change(state, ch, now) : INT64_MAX;
    return hooks->from_plugin && next <= now ? now + 1 : next;
}

/* All of cycle `now` but entering. Returns the next cycle with something to do if nothing enters; INT64_MAX: none. */
DRAM_INLINE int64_t dram_visit(struct dram_channel *ch, const struct dram_hooks *hooks, void *state, int64_t now)
{
    if (__builtin_expect(now >= ch->device.due || ch->device.held, 0))
        dram_device_catch_up(ch, now);
    if (__builtin_expect(now - ch->base > 1 << 29, 0))
        dram_channel_rebase(ch, now);
    const int32_t t = (int32_t)(now - ch->base);
    const int64_t gap = (int64_t)t - ch->last - 1;
    ch->last = t;
    if (gap > 0) {
        dram_count(ch, gap);
        if (hooks->advance)
            hooks->advance(state, ch, gap);
    }
    if (t > ch->pim_activate)
        dram_open_pim_row(ch);
    if (ch->pim_in_slots && t > ch->pim_column) {
        ch->pim_in_slots = false;
        ch->occupied = 0;
        ch->stats.out[DRAM_PIM]++;
    }

    bool changed = false;
    if (hooks->on_cycle)
        hooks->on_cycle(state, now);
    const dram_banks hits = hooks->needs_hits && ch->mode == DRAM_MEM && ch->waiting[DRAM_PIM] ? dram_next_hit(ch) : 0;
    const enum dram_switch answer = hooks->switch_mode(state, ch, hits);
    if (answer != DRAM_STAY) {
        changed = true;
        if (ch->mode == DRAM_MEM) {
            ch->mode = DRAM_PIM;
            ch->stats.switches[DRAM_PIM]++;
            ch->stats.capped += answer == DRAM_SWITCH_CAP;
            ch->stats.conflicts +=
                hooks->fifo ? dram_channel_fifo_conflicts(ch) : __builtin_popcountll(dram_next_hit(ch));
            ch->streak = 0;
        } else {
            ch->mode = DRAM_MEM;
            ch->stats.switches[DRAM_MEM]++;
        }
    }

    bool took = false;
    if (hooks->fifo) {
        took = dram_select_fifo(ch, t);
    } else if (ch->mode == DRAM_MEM) {
        if (!ch->pim_in_slots)
            took = dram_select_mem(ch, hooks, state, t);
    } else if (!ch->occupied && ch->waiting[DRAM_PIM]) {
        dram_take_pim(ch, hooks, state, t);
        took = true;
    }
    dram_count(ch, 1);
    changed |= took;
    if (ch->pim_in_slots) { /* nothing but the request's own commands, unless the mode may change meanwhile */
        if (changed && (ch->waiting[DRAM_MEM] || ch->mode == DRAM_MEM))
            return now + 1;
        int64_t next = ch->base + ch->pim_column + 1;
        if (ch->mode == DRAM_MEM && ch->pim_activate != INT32_MAX && ch->pim_activate >= t)
            next = ch->base + ch->pim_activate + 1;
        const int64_t own = dram_policy_next_change(ch, hooks, state, now);
        return own < next ? own : next;
    }
    if (ch->occupied)
        changed |= dram_issue(ch, hooks, t);
    if (changed)
        return now + 1;
    if (!ch->occupied)
        return dram_policy_next_change(ch, hooks, state, now);
    /* Nothing happened: the state stays until one of these. */
    int32_t next = ch->next_due;
#define SOONER(cycle) next = (cycle) > t && (cycle) < next ? (cycle) : next
    SOONER(ch->wtr_ok);
    SOONER(ch->rtw_ok);
    SOONER(ch->rrd_ok);
    SOONER(ch->ccd_ok);
#undef SOONER
    if (ch->ccdl_last > t || ch->rtpl_last > t)
        next = t + 1;
    if (__builtin_expect(ch->device.on, 0))
        next = dram_device_next(ch, t, next);
    int64_t at = next >= INT32_MAX - 1 ? INT64_MAX : ch->base + next;
    const int64_t own = dram_policy_next_change(ch, hooks, state, now);
    return own < at ? own : at;
}
