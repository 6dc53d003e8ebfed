#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("frfcfs", "", (const int64_t[]){25, 28, 55, 57, 111, 95, 138, 194, 140, 191, 196, 221});
}
END_TEST

START_TEST(an_open_row_is_served_before_an_older_request_of_another_row)
{
    const struct dram_request r[] = {{0, 1, 0, 0, TEST_RD}, {1, 2, 0, 0, TEST_RD}, {2, 1, 1, 0, TEST_RD}};
    test_run("frfcfs", "", r, 3, 1);
    ck_assert_int_lt(test_column[2], test_column[1]);
    ck_assert_int_eq(test_stats.hits[DRAM_MEM], 1);
}
END_TEST

TEST_MAIN("frfcfs")
