#include "models/dram/timing.h"

#include "models/base/platform.h"
#include "models/dram/dram_platform.h"
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
    struct err err;
    param_defaults(dram_params, &p);
    struct platform *gv100 = platform_load("gv100", &err);
    ck_assert_msg(gv100 != NULL, "%s", err.msg);
    const struct dram_platform *read = platform_section_get(gv100, "dram");
    for (const struct param *row = dram_params; row->name; row++) {
        ck_assert_msg(platform_source(gv100, "dram", row->name) != NULL, "%s has no source", row->name);
        if (row->type != PARAM_TEXT)
            ck_assert_msg(param_int(row, read) == param_int(row, &p), "%s differs from the default", row->name);
    }
    platform_free(gv100);
}
END_TEST

START_TEST(a_rule_below_one_cycle_is_refused)
{
    struct dram_platform p;
    struct dram_timing t;
    struct err err;
    param_defaults(dram_params, &p);
    p.rcd = 2;
    ck_assert_int_eq(dram_timing_init(&t, &p, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "tRCDWR"));
}
END_TEST

TEST_MAIN("timing", derived_rules_are_the_artifacts, the_default_platform_states_every_number_with_its_source,
          a_rule_below_one_cycle_is_refused)
