#include "models/dram/device.h"

#include <string.h>

#include "models/dram/channel.h"
#include "models/dram/dram_platform.h"
#include "models/dram/lanes.h"

static int32_t later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

void dram_device_init(struct dram_device *d, const struct dram_platform *p, const struct dram_timing *tm)
{
    memset(d, 0, sizeof *d);
    d->rules = tm->rrdl || tm->faw || tm->wtrl || tm->ppd || tm->ccdr || tm->act_bus || tm->pre_bus || tm->column_bus ||
               tm->single_bus;
    d->on = d->rules || p->rcdwr || p->rtw || p->rtp || tm->interval;
    for (int i = 0; i < 4; i++)
        d->act[i] = DRAM_LONG_AGO;
    d->due = tm->interval ? tm->interval : INT64_MAX;
    d->refreshed = -1;
    command_checker_init(&d->watch, p);
}

static void shift(int32_t *cycle, int64_t by)
{
    *cycle = *cycle > by ? (int32_t)(*cycle - by) : 0;
}

void dram_device_rebase(struct dram_device *d, int64_t by)
{
    for (int g = 0; g < DRAM_BANKS; g++) {
        shift(&d->rrdl_ok[g], by);
        shift(&d->wtrl_ok[g], by);
    }
    shift(&d->rrdl_last, by);
    shift(&d->wtrl_last, by);
    shift(&d->ppd_ok, by);
    shift(&d->ccdr_ok, by);
    shift(&d->row_bus_ok, by);
    shift(&d->column_bus_ok, by);
    shift(&d->refresh_ok, by);
    shift(&d->precharged_ok, by);
    shift(&d->since, by);
    shift(&d->after, by);
    for (int i = 0; i < 4; i++) {
        const int64_t moved = (int64_t)d->act[i] - by;
        d->act[i] = moved < DRAM_LONG_AGO ? DRAM_LONG_AGO : (int32_t)moved;
    }
}

/* --- what was given --- */

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
            ch->rrd_ok = later(ch->rrd_ok, d->act[d->acts & 3] + tm->faw);
        arm(ch, d->rrdl_ok, &d->rrdl_last, banks, t + tm->rrdl);
        d->refresh_ok = later(d->refresh_ok, t + tm->rrd);
    } else if (command == DRAM_PRE) {
        d->ppd_ok = t + tm->ppd;
        d->precharged_ok = t + tm->rp_refresh;
    } else if (command == DRAM_WR) {
        arm(ch, d->wtrl_ok, &d->wtrl_last, banks, t + tm->wtrl);
    }
}

/* The watch notes the later of what it knows and cycle t of the channel. */
static void follow(struct dram_channel *ch, enum dram_command command, int b, int32_t t)
{
    if (t == DRAM_LONG_AGO)
        return;
    struct command_checker *w = &ch->device.watch;
    int64_t *at[] = {&w->at[command_checker_at(DRAM_SAME_BANK, command, b)],
                     &w->at[command_checker_at(DRAM_SAME_GROUP, command, ch->group_of[b])],
                     &w->at[command_checker_at(DRAM_SAME_CHANNEL, command, 0)]};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        *at[i] = ch->base + t > *at[i] ? ch->base + t : *at[i];
}

void dram_device_follow(struct dram_channel *ch)
{
    struct dram_device *d = &ch->device;
    const struct dram_legal *l = &ch->legal;
    int32_t precharged = DRAM_LONG_AGO;
    for (int b = 0; b < ch->banks; b++) {
        follow(ch, DRAM_ACT, b, l->act[b]);
        follow(ch, DRAM_PRE, b, l->pre[b]);
        follow(ch, DRAM_RD, b, l->rd[b]);
        follow(ch, DRAM_WR, b, l->wr[b]);
        d->watch.row[b] = l->row[b];
        precharged = later(precharged, l->pre[b]);
    }
    d->refresh_ok = later(d->refresh_ok, l->any_act + ch->timing.rrd);
    d->precharged_ok = later(d->precharged_ok, precharged + ch->timing.rp_refresh);
}

/* --- refresh --- */

/* The cycle of the refresh's next command, by the rules. */
static int32_t next_step(const struct dram_channel *ch)
{
    const struct dram_device *d = &ch->device;
    const dram_banks open = d->held & ch->active;
    int32_t at = later(d->since, d->row_bus_ok);
    if (open) {
        at = later(later(at, lanes_max(ch->pre_ok, open)), later(ch->pim_wtp, d->ppd_ok));
        for (int g = 0; g < ch->groups && ch->rtpl_last > at; g++)
            if (open & ch->group_banks[g])
                at = later(at, ch->rtpl_ok[g]);
        return at;
    }
    at = later(at, lanes_max(ch->act_ok, d->held));
    if (ch->timing.refresh_all)
        return later(at, d->precharged_ok);
    at = later(at, d->refresh_ok);
    return later(at, d->rrdl_ok[ch->group_of[__builtin_ctzll(d->held)]]);
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
        ch->act_ok[b] = later(ch->act_ok[b], s + ch->timing.rp);
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
        ch->rrd_ok = later(ch->rrd_ok, s + tm->rrefd);
        d->refresh_ok = later(d->refresh_ok, s + tm->rrefd);
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

/* All banks are closed and nothing was asked for since the last visit: all refreshes but the last few leave no trace.
 */
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
    d->since = later(d->since, t);
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
        next = later((int32_t)(d->due - ch->base), t + 1);
    return next;
}
