#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("gather-issue", "", (const int64_t[]){25, 28, 92, 175, 27, 31, 215, 65, 217, 145, 148, 255});
}
END_TEST

START_TEST(pim_gathers_to_the_high_watermark_and_issues_down_to_the_low_one)
{
    /* A hundred MEM requests to one bank, 40 cycles each; sixty PIM requests, one each 60
     * cycles: none comes while the mode changes. */
    struct dram_request r[160];
    for (int i = 0; i < 160; i++)
        r[i] = i < 100 ? (struct dram_request){0, 1 + (uint32_t)i, 0, 3, TEST_RD}
                       : (struct dram_request){60 * (i - 99), 4096, 0, 0, TEST_PIM};
    static const int highs[] = {1, 20, 56};
    for (size_t k = 0; k < sizeof highs / sizeof *highs; k++) {
        test_run("gather-issue", testing_text("high=%d,low=1", highs[k]), r, 160, 2);
        int64_t first = INT64_MAX, entered = 0;
        for (int i = 0; i < 160; i++)
            if (r[i].flags == TEST_PIM && test_sched[i] < first)
                first = test_sched[i];
        for (int i = 0; i < 160; i++)
            entered += r[i].flags == TEST_PIM && test_enter[i] < first;
        ck_assert_int_eq(entered, highs[k]);
    }
}
END_TEST

START_TEST(a_low_watermark_above_the_high_one_is_refused)
{
    const struct dram_policy *p = (const struct dram_policy *)policy_find(dram_policies, "gather-issue");
    test_start(p, "high=32,low=56");
    FAILS_WITH(p->check(test_state, &err), "low is 56, above high, 32");
}
END_TEST

TEST_MAIN("gather-issue")
