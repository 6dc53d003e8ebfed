/* The checker of command traces: each row of each shipped device, and the states of banks. */
#include "models/dram/command_checker.h"

#include "models/base/platform.h"
#include "models/base/sections.h"
#include "models/dram/dram_platform.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

/* Two banks between which the scope holds and no narrower one does. */
static void banks_of(const struct dram_platform *hw, enum dram_scope scope, int *a, int *b)
{
    *a = 1;
    *b = scope == DRAM_SAME_BANK     ? 1
         : scope == DRAM_SAME_GROUP  ? 1 + (int)hw->bank_groups
         : scope == DRAM_OTHER_STACK ? 1 + (int)(hw->banks / hw->sids)
                                     : 2;
}

/* The longest row between the two commands at these banks. */
static int64_t longest(const struct command_checker *w, const struct dram_rule *of, int a, int b)
{
    int64_t most = 0;
    for (int i = 0; i < w->first[DRAM_COMMANDS]; i++) {
        const struct dram_rule *r = &w->rule[i];
        const bool holds = r->scope == DRAM_SAME_CHANNEL || (r->scope != DRAM_OTHER_STACK && a == b) ||
                           (r->scope == DRAM_SAME_GROUP && w->group_of[a] == w->group_of[b]) ||
                           (r->scope == DRAM_OTHER_STACK && w->stack_of[a] != w->stack_of[b]);
        if (r->before == of->before && r->after == of->after && holds && r->fourth == of->fourth && r->cycles > most)
            most = r->cycles;
    }
    return most;
}

/* The fast way finds the same, of commands to one bank. */
static void one_at_the_edge(const struct command_checker *of, enum dram_command command, int bank, int64_t t,
                            const char *name, const char *rule)
{
    if (command == DRAM_REF || command == DRAM_REFB)
        return;
    for (int early = 0; early < 2; early++) {
        struct command_checker w = *of;
        w.bad = NULL;
        w.row[bank] = command == DRAM_ACT ? UINT32_MAX : 7;
        command_checker_one(&w, command, bank, w.group_of[bank], 7, t - early);
        ck_assert_msg((w.bad != NULL) == early && w.row[bank] == (command == DRAM_PRE ? UINT32_MAX : 7),
                      "%s %s: the fast way says %s", name, rule, w.bad ? w.bad : "legal");
    }
}

/* `before` at cycle 1000 and nothing else: `after` is illegal until the last row between them is over. */
static void at_the_edge(const struct dram_platform *hw, const char *name, const struct dram_rule *rule)
{
    static struct command_checker w;
    int a, b;
    banks_of(hw, rule->scope, &a, &b);
    command_checker_init(&w, hw);
    const int64_t cycles = longest(&w, rule, a, b), first = 1000;
    command_checker_command(&w, rule->before, DRAM_BANK(a), 7, first);
    for (int i = 0; i < 3 && rule->fourth; i++) /* long after it, so that only the window binds */
        w.count[rule->before]++;
    for (int s = 0; s <= DRAM_SAME_CHANNEL && rule->fourth; s++)
        w.at[command_checker_at((enum dram_scope)s, rule->before,
                                s == DRAM_SAME_BANK    ? a
                                : s == DRAM_SAME_GROUP ? w.group_of[a]
                                                       : 0)] = -100000;
    const struct dram_rule *early = command_checker_forbids(&w, rule->after, DRAM_BANK(b), first + cycles - 1);
    ck_assert_msg(early && early->before == rule->before && early->cycles == cycles,
                  "%s %s: legal a cycle early, or another row forbids it", name, rule->name);
    ck_assert_msg(!command_checker_forbids(&w, rule->after, DRAM_BANK(b), first + cycles), "%s %s: illegal at %lld",
                  name, rule->name, (long long)cycles);
    one_at_the_edge(&w, rule->after, b, first + cycles, name, rule->name);
}

START_TEST(every_row_of_every_device_is_illegal_a_cycle_early_and_legal_in_time)
{
    char name[64];
    size_t devices = 0;
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = GIVES(platform_load(name, &err));
        struct dram_rule rules[DRAM_RULES_MAX];
        const struct dram_platform *hw = platform_section_get(p, "dram");
        const size_t n = platform_has(p, "dram") ? dram_rules(hw, rules) : 0;
        for (size_t k = 0; k < n; k++)
            at_the_edge(hw, name, &rules[k]);
        devices += n > 0;
        platform_free(p);
    }
    ck_assert_uint_ge(devices, 2);
}
END_TEST

/* A device with every row: HBM3 at 2,619 MHz bank by bank, and the same all at once on a single bus. */
static struct dram_platform device(int64_t refresh, int64_t bus)
{
    struct dram_platform hw;
    param_defaults(dram_params, &hw);
    hw.ccd = hw.burst_cycles = 2, hw.ccdl = 4, hw.rrd = 4, hw.rrdl = 5, hw.faw = 20;
    hw.rcd = 26, hw.rcdwr = 13, hw.rp = 22, hw.rpab = 24, hw.ras = 37, hw.rc = 59;
    hw.cl = 17, hw.wl = 9, hw.cdlr = 6, hw.wtrl = 9, hw.rtw = 17, hw.wr = 28, hw.rtp = 8, hw.rtpl = 0, hw.ppd = 2;
    hw.refresh = refresh, hw.refi = 5107, hw.rfc = 459, hw.rfcb = 262, hw.rrefd = 11;
    hw.command_bus = bus, hw.act_bus = 2, hw.pre_bus = 1, hw.column_bus = 1;
    return hw;
}

START_TEST(rows_that_no_shipped_device_has_too)
{
    for (int64_t refresh = DRAM_REFRESH_NONE; refresh <= DRAM_REFRESH_BANK; refresh++)
        for (int64_t bus = DRAM_BUS_DUAL; bus <= DRAM_BUS_SINGLE; bus++) {
            const struct dram_platform hw = device(refresh, bus);
            struct dram_rule rules[DRAM_RULES_MAX];
            const size_t n = dram_rules(&hw, rules);
            ck_assert_uint_gt(n, 20);
            for (size_t k = 0; k < n; k++)
                at_the_edge(&hw, "hbm3", &rules[k]);
        }
}
END_TEST

/* By hand: command, banks, row, cycle; the last one is a cycle early, and then in time. */
struct step {
    enum dram_command command;
    dram_banks banks;
    uint32_t row;
    int64_t t;
};

/* `one`: the fast way where there is one. */
static void give(struct command_checker *w, const struct step *s, int64_t t, bool one)
{
    const int bank = __builtin_ctzll(s->banks);
    if (one && s->command <= DRAM_WR && !(s->banks & (s->banks - 1)))
        command_checker_one(w, s->command, bank, w->group_of[bank], s->row, t);
    else
        command_checker_command(w, s->command, s->banks, s->row, t);
}

static void illegal_then_legal(const struct dram_platform *hw, const struct step *steps, size_t n, const char *rule)
{
    for (int k = 0; k < 4; k++) {
        const bool late = k & 1, one = k & 2;
        struct command_checker w;
        command_checker_init(&w, hw);
        for (size_t i = 0; i < n; i++)
            give(&w, &steps[i], steps[i].t - (i + 1 == n && !late), one);
        if (late)
            ck_assert_msg(w.bad == NULL, "%s: %s at %lld", rule, w.bad, (long long)w.bad_cycle);
        else
            ck_assert_msg(w.bad && strcmp(w.bad, rule) == 0, "expected %s, found %s", rule, w.bad ? w.bad : "none");
    }
}

/* Cycles from the device's numbers above, added by hand. */
START_TEST(traces_written_by_hand_break_the_rule_they_are_about)
{
    struct dram_platform hw = device(DRAM_REFRESH_ALL, DRAM_BUS_DUAL);
    const struct step rcd[] = {{DRAM_ACT, 1, 5, 100}, {DRAM_RD, 1, 5, 126}};
    illegal_then_legal(&hw, rcd, 2, "tRCD");
    const struct step faw[] = {{DRAM_ACT, 1, 5, 100},
                               {DRAM_ACT, 2, 5, 104},
                               {DRAM_ACT, 4, 5, 108},
                               {DRAM_ACT, 8, 5, 112},
                               {DRAM_ACT, 16, 5, 120}};
    illegal_then_legal(&hw, faw, 5, "tFAW");
    const struct step wtr[] = {
        {DRAM_ACT, 1, 5, 100}, {DRAM_ACT, 2, 5, 104}, {DRAM_WR, 1, 5, 150}, {DRAM_RD, 2, 5, 150 + 9 + 2 + 6}};
    illegal_then_legal(&hw, wtr, 4, "tWTR");
    const struct step wtrl[] = {
        {DRAM_ACT, 1, 5, 100}, {DRAM_ACT, 16, 5, 105}, {DRAM_WR, 1, 5, 150}, {DRAM_RD, 16, 5, 150 + 9 + 2 + 9}};
    illegal_then_legal(&hw, wtrl, 4, "tWTRL");
    const struct step wtp[] = {
        {DRAM_ACT, 1, 5, 100}, {DRAM_WR, 1, 5, 150}, {DRAM_PRE, 1, 0, 150 + 9 + 2 + 28}, {DRAM_ACT, 1, 6, 189 + 22}};
    illegal_then_legal(&hw, wtp, 3, "tWTP");
    illegal_then_legal(&hw, wtp, 4, "tRP");
    const struct step refresh[] = {
        {DRAM_ACT, 1, 5, 100}, {DRAM_PRE, 1, 0, 137}, {DRAM_REF, 0xffff, 0, 161}, {DRAM_ACT, 2, 5, 161 + 459}};
    illegal_then_legal(&hw, refresh, 3, "tRPab");
    illegal_then_legal(&hw, refresh, 4, "tRFCab");
    hw.refresh = DRAM_REFRESH_BANK;
    const struct step bank[] = {{DRAM_REFB, 1, 0, 100}, {DRAM_ACT, 2, 5, 111}};
    const struct step same[] = {{DRAM_REFB, 1, 0, 100}, {DRAM_ACT, 1, 5, 362}};
    illegal_then_legal(&hw, bank, 2, "tRREFD");
    illegal_then_legal(&hw, same, 2, "tRFCpb");
}
END_TEST

START_TEST(a_command_to_a_bank_in_the_wrong_state_is_illegal)
{
    static const struct {
        struct step steps[2];
        const char *bad;
    } cases[] = {{{{DRAM_ACT, 1, 5, 100}, {DRAM_ACT, 1, 5, 900}}, "closed bank"},
                 {{{DRAM_ACT, 1, 5, 100}, {DRAM_PRE, 2, 5, 900}}, "open bank"},
                 {{{DRAM_ACT, 1, 5, 100}, {DRAM_RD, 1, 6, 900}}, "open row"},
                 {{{DRAM_ACT, 1, 5, 100}, {DRAM_WR, 3, 5, 900}}, "open row"},
                 {{{DRAM_ACT, 1, 5, 100}, {DRAM_REF, 0xffff, 0, 900}}, "closed bank"}};
    const struct dram_platform hw = device(DRAM_REFRESH_ALL, DRAM_BUS_DUAL);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const struct step *steps = cases[i / 2].steps;
        struct command_checker w;
        command_checker_init(&w, &hw);
        for (int k = 0; k < 2; k++)
            give(&w, &steps[k], steps[k].t, i & 1);
        ck_assert_str_eq(w.bad, cases[i / 2].bad);
        FAILS_WITH(command_checker_check(&w, &err), "at cycle 900");
    }
}
END_TEST

TEST_MAIN("watch")
