#include "models/dram/watch.h"

#include <string.h>

#include "models/dram/dram_platform.h"

/* Further back than any rule reaches. */
#define LONG_AGO (-(INT64_C(1) << 40))

void dram_watch_init(struct dram_watch *w, const struct dram_platform *platform)
{
    struct dram_rule rules[DRAM_RULES_MAX];
    const size_t n = dram_rules(platform, rules);
    memset(w, 0, sizeof *w);
    w->banks = (int)platform->banks;
    w->groups = (int)platform->bank_groups;
    uint8_t at = 0;
    for (int command = 0; command < DRAM_COMMANDS; command++) {
        w->first[command] = at;
        for (size_t i = 0; i < n; i++)
            if (rules[i].after == (enum dram_command)command)
                w->rule[at++] = rules[i];
        w->channel[command] = LONG_AGO;
        for (int b = 0; b < DRAM_WATCH_BANKS; b++)
            w->bank[command][b] = w->group[command][b] = LONG_AGO;
    }
    w->first[DRAM_COMMANDS] = at;
    for (int i = 0; i < 4; i++)
        w->fourth[i] = LONG_AGO;
    for (int b = 0; b < DRAM_WATCH_BANKS; b++)
        w->row[b] = UINT32_MAX;
}

/* When the rule's first command was given last, as far as these banks are concerned. */
static int64_t last(const struct dram_watch *w, const struct dram_rule *rule, unsigned banks)
{
    if (rule->fourth)
        return w->fourth[w->count[rule->before] & 3];
    if (rule->scope == DRAM_SAME_CHANNEL)
        return w->channel[rule->before];
    int64_t latest = LONG_AGO;
    for (; banks; banks &= banks - 1) {
        const int b = __builtin_ctz(banks);
        const int64_t t =
            rule->scope == DRAM_SAME_BANK ? w->bank[rule->before][b] : w->group[rule->before][b % w->groups];
        latest = t > latest ? t : latest;
    }
    return latest;
}

const struct dram_rule *dram_watch_forbids(const struct dram_watch *w, enum dram_command command, unsigned banks,
                                           int64_t t)
{
    for (int i = w->first[command]; i < w->first[command + 1]; i++)
        if (t - last(w, &w->rule[i], banks) < w->rule[i].cycles)
            return &w->rule[i];
    return NULL;
}

/* What a bank should have been; NULL: it is. */
static const char *wrong(const struct dram_watch *w, enum dram_command command, int bank, uint32_t row)
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

static void blame(struct dram_watch *w, enum dram_command command, int bank, int64_t t, const char *what)
{
    if (w->bad)
        return;
    w->bad = what;
    w->bad_cycle = t;
    w->bad_command = command;
    w->bad_bank = bank;
}

void dram_watch_command(struct dram_watch *w, enum dram_command command, unsigned banks, uint32_t row, int64_t t)
{
    const struct dram_rule *rule = dram_watch_forbids(w, command, banks, t);
    if (rule)
        blame(w, command, __builtin_ctz(banks), t, rule->name);
    if (command == DRAM_ACT)
        w->fourth[w->count[DRAM_ACT] & 3] = t;
    w->count[command]++;
    w->channel[command] = t;
    for (; banks; banks &= banks - 1) {
        const int b = __builtin_ctz(banks);
        const char *const state = wrong(w, command, b, row);
        if (state)
            blame(w, command, b, t, state);
        w->bank[command][b] = w->group[command][b % w->groups] = t;
        if (command == DRAM_ACT)
            w->row[b] = row;
        else if (command != DRAM_RD && command != DRAM_WR)
            w->row[b] = UINT32_MAX;
    }
}

int dram_watch_check(const struct dram_watch *w, struct err *err)
{
    if (!w->bad)
        return 0;
    return err_set(err, "DRAM timing check failed: %s of bank %d at cycle %lld against %s",
                   dram_command_name(w->bad_command), w->bad_bank, (long long)w->bad_cycle, w->bad);
}
