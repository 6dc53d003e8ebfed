/* loop_cycle: one visited cycle of a channel under one policy. */
#ifndef MODELS_DRAM_LOOP_CYCLE_H
#define MODELS_DRAM_LOOP_CYCLE_H

#include "models/dram/loop_issue.h"

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
