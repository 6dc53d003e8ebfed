#include "models/dram/command_checker.h"

#include <string.h>

#include "models/dram/dram_platform.h"

/* Further back than any rule reaches. */
#define LONG_AGO (-(INT64_C(1) << 40))

/* Add a row to those for one bank; the longer of two that differ in nothing but their cycles stays. */
static void add_of_one(struct command_checker *w, const struct dram_rule *rule, uint8_t first, uint8_t *end)
{
    if (rule->fourth) {
        w->faw = rule->cycles > w->faw ? rule->cycles : w->faw;
        return;
    }
    if (rule->scope == DRAM_OTHER_STACK) {
        w->ccdr = (int32_t)rule->cycles;
        return;
    }
    const struct command_checker_row row = {.base = (uint16_t)command_checker_at(rule->scope, rule->before, 0),
                                            .of_bank = rule->scope == DRAM_SAME_BANK ? UINT8_MAX : 0,
                                            .of_group = rule->scope == DRAM_SAME_GROUP ? UINT8_MAX : 0,
                                            .cycles = (int32_t)rule->cycles};
    for (int i = first; i < *end; i++)
        if (w->row_of_one[i].base == row.base) {
            if (w->row_of_one[i].cycles < row.cycles)
                w->row_of_one[i].cycles = row.cycles;
            return;
        }
    w->row_of_one[(*end)++] = row;
}

void command_checker_init(struct command_checker *w, const struct dram_platform *platform)
{
    struct dram_rule rules[DRAM_RULES_MAX];
    const size_t n = dram_rules(platform, rules);
    memset(w, 0, sizeof *w);
    for (int b = 0; b < platform->banks; b++) {
        w->group_of[b] = (uint8_t)dram_group_of(platform, b);
        w->stack_of[b] = (uint8_t)dram_stack_of(platform, b);
    }
    uint8_t at = 0, of_one = 0;
    for (int command = 0; command < DRAM_COMMANDS; command++) {
        w->first[command] = at;
        w->first_of_one[command] = of_one;
        for (size_t i = 0; i < n; i++)
            if (rules[i].after == (enum dram_command)command) {
                add_of_one(w, &rules[i], w->first_of_one[command], &of_one);
                w->rule[at++] = rules[i];
            }
    }
    w->first[DRAM_COMMANDS] = at;
    w->first_of_one[DRAM_COMMANDS] = of_one;
    for (size_t i = 0; i < DRAM_WATCH_TIMES; i++)
        w->at[i] = LONG_AGO;
    for (int i = 0; i < 4; i++)
        w->fourth[i] = LONG_AGO;
    for (int i = 0; i < DRAM_STACKS; i++)
        w->read[i] = LONG_AGO;
    for (int b = 0; b < DRAM_BANKS; b++)
        w->row[b] = UINT32_MAX;
}

/* When the rule's first command was given last, as far as these banks are concerned. */
static int64_t last(const struct command_checker *w, const struct dram_rule *rule, dram_banks banks)
{
    if (rule->fourth)
        return w->fourth[w->count[rule->before] & 3];
    if (rule->scope == DRAM_SAME_CHANNEL)
        return w->at[command_checker_at(DRAM_SAME_CHANNEL, rule->before, 0)];
    int64_t latest = LONG_AGO;
    for (; banks; banks &= banks - 1) {
        const int b = __builtin_ctzll(banks);
        const int i = rule->scope == DRAM_SAME_BANK ? b : w->group_of[b];
        const int64_t t = rule->scope == DRAM_OTHER_STACK ? command_checker_elsewhere(w, b)
                                                          : w->at[command_checker_at(rule->scope, rule->before, i)];
        latest = t > latest ? t : latest;
    }
    return latest;
}

const struct dram_rule *command_checker_forbids(const struct command_checker *w, enum dram_command command,
                                                dram_banks banks, int64_t t)
{
    for (int i = w->first[command]; i < w->first[command + 1]; i++)
        if (t - last(w, &w->rule[i], banks) < w->rule[i].cycles)
            return &w->rule[i];
    return NULL;
}

/* What a bank should have been; NULL: it is. */
static const char *wrong(const struct command_checker *w, enum dram_command command, int bank, uint32_t row)
{
    const bool open = w->row[bank] != UINT32_MAX;
    switch (command) {
    case DRAM_ACT:
    case DRAM_REF:
    case DRAM_REFB:
        return open ? "closed bank" : NULL;
    case DRAM_PRE:
        return open ? NULL : "open bank";
    default:
        return w->row[bank] == row ? NULL : "open row";
    }
}

static void blame(struct command_checker *w, enum dram_command command, int bank, int64_t t, const char *what)
{
    if (w->bad || !what)
        return;
    w->bad = what;
    w->bad_cycle = t;
    w->bad_command = command;
    w->bad_bank = bank;
}

void command_checker_blame(struct command_checker *w, enum dram_command command, dram_banks banks, uint32_t row,
                           int64_t t)
{
    const struct dram_rule *rule = command_checker_forbids(w, command, banks, t);
    if (rule)
        blame(w, command, __builtin_ctzll(banks), t, rule->name);
    for (; banks; banks &= banks - 1)
        blame(w, command, __builtin_ctzll(banks), t, wrong(w, command, __builtin_ctzll(banks), row));
}

void command_checker_command(struct command_checker *w, enum dram_command command, dram_banks banks, uint32_t row,
                             int64_t t)
{
    command_checker_blame(w, command, banks, row, t);
    if (command == DRAM_ACT)
        w->fourth[w->count[DRAM_ACT] & 3] = t;
    w->count[command]++;
    w->at[command_checker_at(DRAM_SAME_CHANNEL, command, 0)] = t;
    for (; banks; banks &= banks - 1) {
        const int b = __builtin_ctzll(banks);
        w->at[command_checker_at(DRAM_SAME_BANK, command, b)] = t;
        w->at[command_checker_at(DRAM_SAME_GROUP, command, w->group_of[b])] = t;
        if (command == DRAM_RD)
            w->read[w->stack_of[b]] = t;
        if (command == DRAM_ACT)
            w->row[b] = row;
        else if (command != DRAM_RD && command != DRAM_WR)
            w->row[b] = UINT32_MAX;
    }
}

int command_checker_check(const struct command_checker *w, struct err *err)
{
    if (!w->bad)
        return 0;
    return err_set(err, "DRAM timing check failed: %s of bank %d at cycle %lld against %s",
                   dram_command_name(w->bad_command), w->bad_bank, (long long)w->bad_cycle, w->bad);
}

/* --- the watch of every run --- */

void dram_legal_init(struct dram_legal *l)
{
    memset(l, 0, sizeof *l);
    for (int i = 0; i < DRAM_BANKS; i++) {
        l->act[i] = l->pre[i] = l->rd[i] = l->wr[i] = l->group_column[i] = l->group_rd[i] = l->refreshed[i] =
            DRAM_LONG_AGO;
        l->row[i] = UINT32_MAX;
    }
    l->all_row = UINT32_MAX;
    l->any_act = l->any_rd = l->any_wr = l->pim = l->any_refreshed = DRAM_LONG_AGO;
}

static void shift(int32_t *cycle, int64_t by)
{
    const int64_t moved = (int64_t)*cycle - by;
    *cycle = moved < DRAM_LONG_AGO ? DRAM_LONG_AGO : (int32_t)moved;
}

void dram_legal_rebase(struct dram_legal *l, int64_t by)
{
    for (int i = 0; i < DRAM_BANKS; i++) {
        shift(&l->act[i], by);
        shift(&l->pre[i], by);
        shift(&l->rd[i], by);
        shift(&l->wr[i], by);
        shift(&l->group_column[i], by);
        shift(&l->group_rd[i], by);
        shift(&l->refreshed[i], by);
    }
    int32_t *cycles[] = {&l->any_act, &l->any_rd, &l->any_wr, &l->pim, &l->any_refreshed};
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++)
        shift(cycles[i], by);
}

/* All banks together: the same tests as bank by bank, without branches. */
static void all_rows(struct dram_legal *l, const struct dram_timing *tm, int32_t pre, int32_t act, uint32_t row)
{
    int32_t bad = 0;
    for (int b = 0; b < 16; b++) {
        const int32_t wr = dram_later(l->wr[b], l->pim);
        bad |= (l->row[b] == UINT32_MAX) | (pre - l->act[b] < tm->ras) | (pre - l->rd[b] < tm->rtp) |
               (pre - wr < tm->wtp) | (pre - l->group_rd[b] < tm->rtpl) | (act - l->act[b] < tm->rc) |
               (act < l->refreshed[b]);
        l->pre[b] = pre;
        l->act[b] = act;
        l->row[b] = row;
    }
    bad |= (act - pre < tm->rp) | (act - l->any_act < tm->rrd) | (act < l->any_refreshed);
    if (bad)
        dram_legal_blame(l, pre, 0, "PRE and ACT of all banks");
    l->any_act = act;
    l->all_row = UINT32_MAX;
}

void dram_legal_pim_rows(struct dram_legal *l, const struct dram_timing *tm, const uint8_t *group_of,
                         dram_banks precharged, int32_t pre, dram_banks activated, int32_t act, uint32_t row)
{
    if (precharged == 0xffff && activated == 0xffff) {
        all_rows(l, tm, pre, act, row);
        return;
    }
    for (dram_banks m = precharged; m; m &= m - 1) {
        const int b = __builtin_ctzll(m);
        dram_legal_pre(l, tm, pre, b, group_of[b]);
    }
    if (!activated)
        return;
    /* One ACT to many banks arms and obeys tRRD once. */
    const int32_t before = l->any_act;
    for (dram_banks m = activated; m; m &= m - 1) {
        l->any_act = before;
        dram_legal_act(l, tm, act, __builtin_ctzll(m), row);
    }
}

void dram_legal_refresh(struct dram_legal *l, dram_banks banks, int32_t over, int32_t others)
{
    for (; banks; banks &= banks - 1)
        l->refreshed[__builtin_ctzll(banks)] = over;
    l->any_refreshed = others;
}

void dram_legal_close(struct dram_legal *l, dram_banks banks, int32_t t)
{
    for (; banks; banks &= banks - 1) {
        l->pre[__builtin_ctzll(banks)] = t;
        l->row[__builtin_ctzll(banks)] = UINT32_MAX;
    }
    l->all_row = UINT32_MAX;
}
