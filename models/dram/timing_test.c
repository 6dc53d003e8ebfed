#include "models/dram/timing.h"

#include "models/base/platform.h"
#include "models/base/sections.h"
#include "models/dram/dram_platform.h"
#include "trace/base/param.h"
#include "trace/base/testing.h"

START_TEST(derived_rules_are_the_artifacts)
{
    struct dram_platform p;
    struct dram_timing t;
    param_defaults(dram_params, &p);
    ck_assert_int_eq(dram_timing_init(&t, &p, NULL), 0);
    ck_assert_int_eq(t.rcdwr, 9);
    ck_assert_int_eq(t.rtw, 13);
    ck_assert_int_eq(t.wtr, 6);
    ck_assert_int_eq(t.wtp, 13);
    ck_assert_int_eq(t.rtp, 1);
}
END_TEST

START_TEST(the_default_platform_states_every_number_with_its_source)
{
    struct dram_platform p;
    param_defaults(dram_params, &p);
    struct platform *gv100 = GIVES(platform_load("gv100", &err));
    const struct dram_platform *read = platform_section_get(gv100, "dram");
    for (const struct param *row = dram_params; row->name; row++) {
        ck_assert_msg(platform_number(gv100, "dram", row->name)->state != PLATFORM_UNSTATED, "%s", row->name);
        if (row->type != PARAM_TEXT)
            ck_assert_msg(param_int(row, read) == param_int(row, &p), "%s differs from the default", row->name);
    }
    platform_free(gv100);
}
END_TEST

/* The paper's device has the fifteen rows it always had, and no other. */
START_TEST(the_papers_rows_are_these_fifteen)
{
    static const struct dram_rule expected[] = {
        {DRAM_RD, DRAM_RD, DRAM_SAME_CHANNEL, 1, 0, 0, 0},   {DRAM_WR, DRAM_WR, DRAM_SAME_CHANNEL, 1, 0, 0, 0},
        {DRAM_RD, DRAM_RD, DRAM_SAME_GROUP, 2, 0, 0, 0},     {DRAM_WR, DRAM_WR, DRAM_SAME_GROUP, 2, 0, 0, 0},
        {DRAM_ACT, DRAM_ACT, DRAM_SAME_CHANNEL, 3, 0, 0, 0}, {DRAM_ACT, DRAM_RD, DRAM_SAME_BANK, 12, 0, 0, 0},
        {DRAM_ACT, DRAM_WR, DRAM_SAME_BANK, 9, 0, 0, 0},     {DRAM_ACT, DRAM_PRE, DRAM_SAME_BANK, 28, 0, 0, 0},
        {DRAM_PRE, DRAM_ACT, DRAM_SAME_BANK, 12, 0, 0, 0},   {DRAM_ACT, DRAM_ACT, DRAM_SAME_BANK, 40, 0, 0, 0},
        {DRAM_RD, DRAM_WR, DRAM_SAME_CHANNEL, 13, 0, 0, 0},  {DRAM_WR, DRAM_RD, DRAM_SAME_CHANNEL, 6, 0, 0, 0},
        {DRAM_WR, DRAM_PRE, DRAM_SAME_BANK, 13, 0, 0, 0},    {DRAM_RD, DRAM_PRE, DRAM_SAME_BANK, 1, 0, 0, 0},
        {DRAM_RD, DRAM_PRE, DRAM_SAME_GROUP, 3, 0, 0, 0}};
    static const char *const names[] = {"gv100", "v100"};
    for (int k = 0; k < 2; k++) {
        struct dram_rule rules[DRAM_RULES_MAX];
        struct platform *p = GIVES(platform_load(names[k], &err));
        ck_assert_uint_eq(dram_rules(platform_section_get(p, "dram"), rules), 15);
        for (int i = 0; i < 15; i++) {
            ck_assert_int_eq(rules[i].before, expected[i].before);
            ck_assert_int_eq(rules[i].after, expected[i].after);
            ck_assert_int_eq(rules[i].scope, expected[i].scope);
            ck_assert_int_eq(rules[i].cycles, expected[i].cycles);
            ck_assert_int_eq(rules[i].fourth, 0);
        }
        platform_free(p);
    }
}
END_TEST

START_TEST(a_refresh_that_leaves_no_time_is_refused)
{
    struct dram_platform p;
    struct dram_timing t;
    param_defaults(dram_params, &p);
    p.refresh = DRAM_REFRESH_ALL;
    p.refi = 200;
    FAILS_WITH(dram_timing_init(&t, &p, &err), "tRFCab");
    p.rfc = 150;
    FAILS_WITH(dram_timing_init(&t, &p, &err), "refi 200");
    p.refi = 3000;
    WORKS(dram_timing_init(&t, &p, &err));
}
END_TEST

START_TEST(a_rule_below_one_cycle_is_refused)
{
    struct dram_platform p;
    struct dram_timing t;
    param_defaults(dram_params, &p);
    p.rcd = 2;
    FAILS_WITH(dram_timing_init(&t, &p, &err), "tRCDWR");
}
END_TEST

START_TEST(banks_that_stacks_and_groups_do_not_share_out_are_refused)
{
    static const int64_t bad[][3] = {{24, 1, 4}, {48, 2, 16}, {16, 3, 4}, {8, 1, 16}};
    static const int64_t good[][3] = {{48, 3, 4}, {48, 3, 16}, {32, 2, 4}, {32, 1, 8}, {8, 1, 1}};
    struct dram_platform p;
    struct dram_timing t;
    param_defaults(dram_params, &p);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p.banks = bad[i][0], p.sids = bad[i][1], p.bank_groups = bad[i][2];
        FAILS_WITH(dram_timing_init(&t, &p, &err), "[dram] banks is");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        p.banks = good[i][0], p.sids = good[i][1], p.bank_groups = good[i][2];
        WORKS(dram_timing_init(&t, &p, &err));
    }
}
END_TEST

/* Three stacks of four groups of four banks. */
START_TEST(groups_are_counted_over_all_stacks)
{
    struct dram_platform p;
    param_defaults(dram_params, &p);
    p.banks = 48, p.sids = 3;
    ck_assert_int_eq(dram_stack_of(&p, 15), 0);
    ck_assert_int_eq(dram_stack_of(&p, 16), 1);
    ck_assert_int_eq(dram_stack_of(&p, 47), 2);
    ck_assert_int_eq(dram_group_of(&p, 13), 1);
    ck_assert_int_eq(dram_group_of(&p, 18), 6);
    ck_assert_int_eq(dram_group_of(&p, 47), 11);
}
END_TEST

TEST_MAIN("timing")
