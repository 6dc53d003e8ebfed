#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("fcfs", "", (const int64_t[]){25, 28, 55, 57, 108, 111, 145, 198, 225, 272, 278, 305});
}
END_TEST

START_TEST(a_busy_bank_holds_back_every_later_request)
{
    /* The worked example of fcfs.c, and a fourth request behind the blocked head. */
    const struct dram_request r[] = {
        {0, 1, 0, 0, TEST_RD}, {1, 1, 0, 1, TEST_RD}, {2, 1, 1, 0, TEST_RD}, {3, 1, 0, 5, TEST_RD}};
    test_run("fcfs", "", r, 4, 1);
    ck_assert_int_eq(test_sched[0], 1);
    ck_assert_int_eq(test_sched[1], 2);
    ck_assert_int_eq(test_sched[2], 14);
    ck_assert_int_eq(test_sched[3], 15);
}
END_TEST

TEST_MAIN("fcfs")
