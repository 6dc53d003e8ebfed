/* loop_cycle: the commands of a cycle, and one visited cycle of a channel under one policy. */
#ifndef MODELS_DRAM_LOOP_CYCLE_H
#define MODELS_DRAM_LOOP_CYCLE_H

#include "models/dram/loop_device.h"
#include "models/dram/loop_select.h"

/* Commands to the MEM slots, one column and one row command a cycle at most. */

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
    ch->rd_ok[b] = t + tm->rcd;
    ch->wr_ok[b] = t + tm->rcdwr;
    ch->pre_ok[b] = t + tm->ras;
    ch->act_ok[b] = t + tm->rc;
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

/* Banks of groups whose time in `ok` has not come. */
DRAM_INLINE dram_banks dram_blocked_banks(const struct dram_channel *ch, const int32_t *ok, int32_t t)
{
    dram_banks blocked = ok == ch->ccdl_ok && ch->ccdl_all > t ? ch->all : 0;
    for (int g = 0; g < ch->groups; g++)
        blocked |= ok[g] > t ? ch->group_banks[g] : 0;
    return blocked;
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

/* The next cycle at which the policy itself may change something. */
DRAM_INLINE int64_t dram_policy_next(const struct dram_channel *ch, const struct dram_hooks *hooks, void *state,
                                     int64_t now)
{
    const int64_t next = hooks->next ? hooks->next(state, ch, now) : INT64_MAX;
    return hooks->loaded && next <= now ? now + 1 : next;
}

/* Do everything of cycle `now` but entering. Returns the next cycle at which something may happen without an entry,
 * INT64_MAX if none. */
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
    if (hooks->begin)
        hooks->begin(state, now);
    const dram_banks hits = hooks->needs_hits && ch->mode == DRAM_MEM && ch->waiting[DRAM_PIM] ? dram_next_hit(ch) : 0;
    const enum dram_leave leave = hooks->leaves(state, ch, hits);
    if (leave != DRAM_STAY) {
        changed = true;
        if (ch->mode == DRAM_MEM) {
            ch->mode = DRAM_PIM;
            ch->stats.switches[DRAM_PIM]++;
            ch->stats.capped += leave == DRAM_LEAVE_CAP;
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
        const int64_t own = dram_policy_next(ch, hooks, state, now);
        return own < next ? own : next;
    }
    if (ch->occupied)
        changed |= dram_issue(ch, hooks, t);
    if (changed)
        return now + 1;
    if (!ch->occupied)
        return dram_policy_next(ch, hooks, state, now);
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
    const int64_t own = dram_policy_next(ch, hooks, state, now);
    return own < at ? own : at;
}

#endif
