#include "models/dram/channel.h"

#include <string.h>

#include "models/dram/dram_platform.h"
#include "models/dram/dram_policy.h"
#include "models/dram/lanes.h"

static void init_device(struct dram_device *d, const struct dram_platform *p, const struct dram_timing *tm)
{
    d->rules = tm->rrdl || tm->faw || tm->wtrl || tm->ppd || tm->ccdr || tm->act_bus || tm->pre_bus || tm->column_bus ||
               tm->single_bus;
    d->on = d->rules || p->rcdwr || p->rtw || p->rtp || tm->interval;
    for (int i = 0; i < 4; i++)
        d->act[i] = DRAM_LONG_AGO;
    d->due = tm->interval ? tm->interval : INT64_MAX;
    d->refreshed = -1;
    command_checker_init(&d->watch, p);
}

int dram_channel_init(struct dram_channel *ch, const struct dram_platform *platform, struct err *err)
{
    memset(ch, 0, sizeof *ch);
    if (dram_timing_init(&ch->timing, platform, err))
        return -1;
    if (platform->bank_groups & (platform->bank_groups - 1))
        return err_set(err, "[dram] bank_groups is %lld; expected a power of two", (long long)platform->bank_groups);
    ch->queue = (int32_t)platform->queue;
    ch->group_mask = (int32_t)platform->bank_groups - 1;
    ch->bank_mask = (int32_t)platform->banks - 1;
    ch->banks = (int32_t)platform->banks;
    ch->groups = (int32_t)(platform->bank_groups * platform->sids);
    ch->width = ch->banks > DRAM_NARROW ? ch->banks : DRAM_NARROW;
    ch->all = dram_first_banks(ch->width);
    ch->last = -1;
    ch->loop_mem_fits = dram_loop_mem_fits(platform);
    for (int b = 0; b < DRAM_BANKS; b++) {
        ch->ready[b] = INT32_MAX;
        ch->open_row[b] = ch->bank[b].last_row = DRAM_NO_ROW;
        ch->bank[b].limit = 16;
    }
    for (int b = 0; b < ch->banks; b++) {
        ch->group_of[b] = (uint8_t)dram_group_of(platform, b);
        ch->stack_of[b] = (uint8_t)dram_stack_of(platform, b);
        ch->group_banks[ch->group_of[b]] |= DRAM_BANK(b);
        ch->stack_banks[ch->stack_of[b]] |= DRAM_BANK(b);
    }
    ch->pim_activate = ch->next_due = INT32_MAX;
    ch->pim_row = DRAM_NO_ROW;
    for (int c = 0; c < 2; c++)
        ch->stats.last_out[c] = ch->stats.first_in[c] = -1;
    dram_legal_init(&ch->legal);
    init_device(&ch->device, platform, &ch->timing);
    return 0;
}

static void shift(int32_t *cycle, int64_t by)
{
    if (*cycle != INT32_MAX)
        *cycle = *cycle > by ? (int32_t)(*cycle - by) : 0;
}

static void rebase_device(struct dram_device *d, int64_t by)
{
    for (int g = 0; g < DRAM_BANKS; g++) {
        shift(&d->rrdl_ok[g], by);
        shift(&d->wtrl_ok[g], by);
    }
    int32_t *cycles[] = {&d->rrdl_last,     &d->wtrl_last,  &d->ppd_ok,        &d->ccdr_ok, &d->row_bus_ok,
                         &d->column_bus_ok, &d->refresh_ok, &d->precharged_ok, &d->since,   &d->after};
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++)
        shift(cycles[i], by);
    for (int i = 0; i < 4; i++) {
        const int64_t moved = (int64_t)d->act[i] - by;
        d->act[i] = moved < DRAM_LONG_AGO ? DRAM_LONG_AGO : (int32_t)moved;
    }
}

void dram_channel_rebase(struct dram_channel *ch, int64_t now)
{
    if (ch->uniform)
        dram_channel_settle(ch);
    const int64_t by = now - ch->base;
    ch->base = now;
    ch->last -= by;
    for (int b = 0; b < DRAM_BANKS; b++) {
        shift(&ch->ready[b], by);
        shift(&ch->act_ok[b], by);
        shift(&ch->rd_ok[b], by);
        shift(&ch->wr_ok[b], by);
        shift(&ch->pre_ok[b], by);
        shift(&ch->ccdl_ok[b], by);
        shift(&ch->rtpl_ok[b], by);
    }
    int32_t *cycles[] = {&ch->ccd_ok,   &ch->rrd_ok,    &ch->rtw_ok,  &ch->wtr_ok,  &ch->ccdl_last,
                         &ch->ccdl_all, &ch->rtpl_last, &ch->pim_wtp, &ch->next_due};
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++)
        shift(cycles[i], by);
    ch->pim_column = ch->pim_column >= by ? (int32_t)(ch->pim_column - by) : -1;
    if (ch->pim_activate != INT32_MAX)
        ch->pim_activate = ch->pim_activate >= by ? (int32_t)(ch->pim_activate - by) : -1;
    dram_legal_rebase(&ch->legal, by);
    rebase_device(&ch->device, by);
}

void dram_channel_settle(struct dram_channel *ch)
{
    for (int b = 0; b < DRAM_NARROW; b++)
        dram_opened(ch, b, ch->uniform_act);
    ch->uniform = false;
}

bool dram_channel_bank_full(const struct dram_channel *ch)
{
    bool full = false;
    for (int b = 0; b < ch->banks; b++)
        full |= ch->bank[b].live == UINT64_MAX;
    return full;
}

void dram_bank_queue_compact(struct dram_bank_queue *q)
{
    int n = 0;
    uint64_t same = 0, match = 0;
    for (uint64_t m = q->live; m; m &= m - 1, n++) {
        const int i = __builtin_ctzll(m);
        same |= (q->same >> i & 1) << n;
        match |= (q->match >> i & 1) << n;
        q->rows[n] = q->rows[i];
        q->tags[n] = q->tags[i];
        q->ids[n] = q->ids[i];
        q->seqs[n] = q->seqs[i];
        q->flags[n] = q->flags[i];
    }
    q->live = n == DRAM_QUEUE ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    q->same = same;
    q->match = match;
    q->tail = n;
    q->limit = n <= 16 ? 32 : DRAM_QUEUE;
}

void dram_channel_explain(struct dram_channel *ch, int32_t t, const char *command, dram_banks banks, uint32_t row,
                          uint32_t id)
{
    if (ch->explain <= 0)
        return;
    ch->explain--;
    ch->on_command(ch->on_command_ctx, ch, ch->base + t, command, banks, row, id);
}

int dram_channel_fifo_conflicts(const struct dram_channel *ch)
{
    const int n = ch->waiting[DRAM_MEM] + ch->waiting[DRAM_PIM];
    dram_banks seen = 0;
    int conflicts = 0;
    for (int k = 0; k < n && seen != ch->all; k++) {
        const uint32_t i = (ch->fifo.head + (uint32_t)k) % (2 * DRAM_QUEUES);
        const unsigned bank = ch->fifo.banks[i];
        const dram_banks bit = DRAM_BANK(bank);
        if (ch->fifo.flags[i] & DRAM_IS_PIM || seen & bit)
            continue;
        seen |= bit;
        conflicts += ch->fifo.rows[i] == ch->open_row[bank];
    }
    return conflicts;
}

/* What the loop wrote ahead of time and the limit cut off did not happen. */
static void take_back(struct dram_channel *ch, const struct dram_completion *c, int64_t limit)
{
    const enum dram_class class = c->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    if (ch->timestamps.done)
        ch->timestamps.done[c->id] = -1;
    if (class == DRAM_PIM && c->done - ch->timing.wl >= limit && ch->timestamps.column)
        ch->timestamps.column[c->id] = -1;
}

void dram_feed_end(struct dram_channel *ch, struct dram_feed *feed, int64_t now)
{
    const struct dram_stats *s = &ch->stats;
    const int64_t last = s->last_out[0] > s->last_out[1] ? s->last_out[0] : s->last_out[1];
    feed->finished = s->out[DRAM_MEM] + s->out[DRAM_PIM] == feed->count;
    if (feed->finished) {
        feed->cycles = last + 1;
        if (feed->cycles <= feed->limit)
            return;
    }
    feed->finished = false;
    if (feed->limit == INT64_MAX) { /* stalled; what was issued ends all the same */
        feed->cycles = last > now ? last + 1 : now + 1;
        return;
    }
    feed->cycles = feed->limit;
    for (uint32_t i = ch->completion_tail; i > 0 && i + DRAM_COMPLETIONS > ch->completion_tail; i--) {
        const struct dram_completion *c = &ch->completions[(i - 1) % DRAM_COMPLETIONS];
        if (c->done < feed->cycles)
            break;
        take_back(ch, c, feed->cycles);
    }
}

int dram_channel_check(const struct dram_channel *ch, bool finished, struct err *err)
{
    const struct dram_stats *s = &ch->stats;
    if (ch->legal.bad)
        return err_set(err, "DRAM timing check failed: %s of bank %d at cycle %lld comes too early or to the wrong row",
                       ch->legal.bad, ch->legal.bad_bank, (long long)(ch->base + ch->legal.bad_cycle));
    if (command_checker_check(&ch->device.watch, err))
        return -1;
    for (int c = 0; c < 2; c++) {
        int64_t slots = 0;
        if (c == DRAM_PIM)
            slots = ch->pim_in_slots;
        else if (!ch->pim_in_slots)
            slots = __builtin_popcountll(ch->occupied);
        if (s->in[c] != s->out[c] + ch->waiting[c] + slots || (finished && s->in[c] != s->out[c]))
            return err_set(
                err, "DRAM conservation check failed: %lld %s requests in, %lld out, %d waiting, %lld in slots",
                (long long)s->in[c], c ? "PIM" : "MEM", (long long)s->out[c], ch->waiting[c], (long long)slots);
    }
    if (s->columns > s->columns_in || (finished && s->columns != s->columns_in))
        return err_set(err, "DRAM conservation check failed: %lld column commands for %lld asked",
                       (long long)s->columns, (long long)s->columns_in);
    return 0;
}

/* --- its device: what was given --- */

/* A command to the groups of `banks` blocks each of them until `ok`. */
static void arm(const struct dram_channel *ch, int32_t *group, int32_t *last, dram_banks banks, int32_t ok)
{
    for (int g = 0; g < ch->groups; g++)
        if (banks & ch->group_banks[g])
            group[g] = ok;
    *last = ok;
}

void dram_device_gave(struct dram_channel *ch, enum dram_command command, dram_banks banks, uint32_t row, int32_t t)
{
    struct dram_device *d = &ch->device;
    const struct dram_timing *tm = &ch->timing;
    command_checker_command(&d->watch, command, banks, row, ch->base + t);
    dram_device_hold_bus(d, tm, command, t);
    if (command == DRAM_ACT) {
        d->act[d->acts++ & 3] = t;
        if (tm->faw)
            ch->rrd_ok = dram_later(ch->rrd_ok, d->act[d->acts & 3] + tm->faw);
        arm(ch, d->rrdl_ok, &d->rrdl_last, banks, t + tm->rrdl);
        d->refresh_ok = dram_later(d->refresh_ok, t + tm->rrd);
    } else if (command == DRAM_PRE) {
        d->ppd_ok = t + tm->ppd;
        d->precharged_ok = t + tm->rp_refresh;
    } else if (command == DRAM_WR) {
        arm(ch, d->wtrl_ok, &d->wtrl_last, banks, t + tm->wtrl);
    }
}

/* --- refresh --- */

/* The cycle of the refresh's next command, by the rules. */
static int32_t next_step(const struct dram_channel *ch)
{
    const struct dram_device *d = &ch->device;
    const dram_banks open = d->held & ch->active;
    int32_t at = dram_later(d->since, d->row_bus_ok);
    if (open) {
        at = dram_later(dram_later(at, lanes_max(ch->pre_ok, open)), dram_later(ch->pim_wtp, d->ppd_ok));
        for (int g = 0; g < ch->groups && ch->rtpl_last > at; g++)
            if (open & ch->group_banks[g])
                at = dram_later(at, ch->rtpl_ok[g]);
        return at;
    }
    at = dram_later(at, lanes_max(ch->act_ok, d->held));
    if (ch->timing.refresh_all)
        return dram_later(at, d->precharged_ok);
    at = dram_later(at, d->refresh_ok);
    return dram_later(at, d->rrdl_ok[ch->group_of[__builtin_ctzll(d->held)]]);
}

/* A slot of a held bank must open its row again. `at`: as far as the bank is concerned; INT32_MAX: not known yet. */
static void reopen(struct dram_channel *ch, dram_banks banks, int32_t at, int32_t t)
{
    for (dram_banks m = banks & ch->occupied; m; m &= m - 1) {
        const int b = __builtin_ctzll(m);
        const dram_banks bit = DRAM_BANK(b);
        ch->want_rd &= ~bit;
        ch->want_wr &= ~bit;
        ch->want_pre &= ~bit;
        ch->want_act |= bit;
        ch->ready[b] = at;
        ch->due = at <= t ? ch->due | bit : ch->due & ~bit;
        if (at > t && at < ch->next_due)
            ch->next_due = at;
    }
}

static void close_held(struct dram_channel *ch, int32_t s, int32_t t)
{
    struct dram_device *d = &ch->device;
    const dram_banks open = d->held & ch->active;
    if (ch->explain > 0)
        dram_channel_explain(ch, s, "PRE", open, 0, DRAM_NO_REQUEST);
    dram_legal_close(&ch->legal, open, s);
    dram_device_gave(ch, DRAM_PRE, open, 0, s);
    ch->active &= ~open;
    for (dram_banks m = open; m; m &= m - 1) {
        const int b = __builtin_ctzll(m);
        ch->act_ok[b] = dram_later(ch->act_ok[b], s + ch->timing.rp);
    }
    ch->stats.precharges++;
    reopen(ch, open, INT32_MAX, t);
}

static void refresh_held(struct dram_channel *ch, int32_t s, int32_t t)
{
    struct dram_device *d = &ch->device;
    const struct dram_timing *tm = &ch->timing;
    const dram_banks held = d->held;
    if (ch->explain > 0)
        dram_channel_explain(ch, s, "REF", held, 0, DRAM_NO_REQUEST);
    dram_device_gave(ch, tm->refresh_all ? DRAM_REF : DRAM_REFB, held, 0, s);
    dram_legal_refresh(&ch->legal, held, s + tm->rfc, s + (tm->refresh_all ? tm->rfc : tm->rrefd));
    for (dram_banks m = held; m; m &= m - 1)
        ch->act_ok[__builtin_ctzll(m)] = s + tm->rfc;
    if (!tm->refresh_all) {
        ch->rrd_ok = dram_later(ch->rrd_ok, s + tm->rrefd);
        d->refresh_ok = dram_later(d->refresh_ok, s + tm->rrefd);
    }
    d->held = 0;
    d->after = s + 1;
    ch->stats.refreshes++;
    reopen(ch, held, s + tm->rfc, t);
}

/* One command of the refresh at s; t is the cycle of the visit. */
static void step(struct dram_channel *ch, int32_t s, int32_t t)
{
    if (ch->uniform)
        dram_channel_settle(ch);
    if (ch->device.held & ch->active)
        close_held(ch, s, t);
    else
        refresh_held(ch, s, t);
}

/* Take hold of the next banks from cycle `since` on. */
static void hold(struct dram_channel *ch, int64_t since)
{
    struct dram_device *d = &ch->device;
    d->refreshed = (d->refreshed + 1) % ch->banks;
    d->held = ch->timing.refresh_all ? dram_first_banks(ch->banks) : DRAM_BANK(d->refreshed);
    d->since = (int32_t)(since - ch->base);
    d->due += ch->timing.interval;
}

/* All banks are closed and nothing was asked for since the last visit: only the last few refreshes leave a trace. */
static void skip(struct dram_channel *ch, int64_t now)
{
    struct dram_device *d = &ch->device;
    const int64_t keep = 2 + ch->timing.rfc / ch->timing.interval; /* those whose tRFC may reach `now` */
    int64_t n = (now - d->due) / ch->timing.interval - keep;
    if (d->held || ch->active || n <= 0 || d->due - ch->base <= ch->last || d->due - ch->base < d->after)
        return;
    if (ch->every)
        n = 0;
    d->due += n * ch->timing.interval;
    ch->stats.refreshes += n;
    d->refreshed = (int)((d->refreshed + n) % ch->banks);
    if (d->due - ch->base > 1 << 29)
        dram_channel_rebase(ch, d->due - 1);
}

void dram_device_catch_up(struct dram_channel *ch, int64_t now)
{
    struct dram_device *d = &ch->device;
    if (ch->pim_in_slots && now <= ch->base + ch->pim_column)
        return;
    for (;;) {
        if (!ch->occupied)
            skip(ch, now);
        if (!d->held) {
            const int64_t free = ch->base + (ch->pim_in_slots ? ch->pim_column + 1 : d->after);
            const int64_t from = d->due > free ? d->due : free;
            if (from > now || d->due == INT64_MAX)
                return;
            hold(ch, from);
        }
        if (ch->uniform)
            dram_channel_settle(ch);
        const int32_t s = next_step(ch);
        if (ch->base + s >= now)
            return;
        const int64_t t = now - ch->base;
        step(ch, s, t > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)t);
    }
}

bool dram_device_refresh(struct dram_channel *ch, int32_t t)
{
    if (!ch->device.held || next_step(ch) > t)
        return false;
    step(ch, t, t);
    return true;
}

int32_t dram_device_finish(struct dram_channel *ch, int32_t t)
{
    struct dram_device *d = &ch->device;
    int32_t s = t;
    d->since = dram_later(d->since, t);
    while (d->held) {
        s = next_step(ch);
        step(ch, s, t);
    }
    return s + 1;
}

int32_t dram_device_next(const struct dram_channel *ch, int32_t t, int32_t next)
{
    const struct dram_device *d = &ch->device;
    const int32_t at[] = {d->ppd_ok, d->ccdr_ok, d->row_bus_ok, d->column_bus_ok, d->held ? next_step(ch) : 0};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        next = at[i] > t && at[i] < next ? at[i] : next;
    if (d->rrdl_last > t || d->wtrl_last > t)
        next = t + 1;
    if (!d->held && d->due - ch->base < next)
        next = dram_later((int32_t)(d->due - ch->base), t + 1);
    return next;
}
