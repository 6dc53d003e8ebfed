#include "models/dram/channel.h"

#include <string.h>

#include "models/dram/dram_platform.h"

/* Whether loop_mem.c looks as far ahead as each rule of the platform but those of what follows a refresh, has room
 * for as many requests at each bank, and for as many banks. */
static bool is_near(const struct dram_platform *platform)
{
    struct dram_rule rules[DRAM_RULES_MAX];
    const size_t n = dram_rules(platform, rules);
    bool near = platform->cl < DRAM_WHEEL && platform->wl < DRAM_WHEEL && platform->queue <= DRAM_QUEUE &&
                platform->banks <= DRAM_NARROW && platform->sids == 1;
    for (size_t i = 0; i < n; i++)
        near &= rules[i].cycles < DRAM_WHEEL || rules[i].before == DRAM_REF || rules[i].before == DRAM_REFB;
    return near;
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
    ch->near = is_near(platform);
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
    dram_device_init(&ch->device, platform, &ch->timing);
    return 0;
}

static void shift(int32_t *cycle, int64_t by)
{
    if (*cycle != INT32_MAX)
        *cycle = *cycle > by ? (int32_t)(*cycle - by) : 0;
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
    shift(&ch->ccd_ok, by);
    shift(&ch->rrd_ok, by);
    shift(&ch->rtw_ok, by);
    shift(&ch->wtr_ok, by);
    shift(&ch->ccdl_last, by);
    shift(&ch->ccdl_all, by);
    shift(&ch->rtpl_last, by);
    shift(&ch->pim_wtp, by);
    shift(&ch->next_due, by);
    ch->pim_column = ch->pim_column >= by ? (int32_t)(ch->pim_column - by) : -1;
    if (ch->pim_activate != INT32_MAX)
        ch->pim_activate = ch->pim_activate >= by ? (int32_t)(ch->pim_activate - by) : -1;
    dram_legal_rebase(&ch->legal, by);
    dram_device_rebase(&ch->device, by);
}

void dram_channel_settle(struct dram_channel *ch)
{
    const struct dram_timing *tm = &ch->timing;
    for (int b = 0; b < DRAM_NARROW; b++) {
        ch->rd_ok[b] = ch->uniform_act + tm->rcd;
        ch->wr_ok[b] = ch->uniform_act + tm->rcdwr;
        ch->pre_ok[b] = ch->uniform_act + tm->ras;
        ch->act_ok[b] = ch->uniform_act + tm->rc;
    }
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

void dram_channel_explain_pim(struct dram_channel *ch, dram_banks precharged, int32_t precharge, dram_banks activated,
                              int32_t activate, uint32_t row, uint32_t id)
{
    if (precharged)
        dram_channel_explain(ch, precharge, "PRE", precharged, row, id);
    if (activated)
        dram_channel_explain(ch, activate, "ACT", activated, row, id);
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
