#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("frrr-fcfs", "", (const int64_t[]){25, 28, 55, 57, 111, 95, 138, 194, 140, 191, 196, 221});
}
END_TEST

START_TEST(a_pim_phase_serves_one_row)
{
    struct dram_request r[65];
    for (int i = 0; i < 64; i++)
        r[i] = (struct dram_request){0, 4096 + (uint32_t)i / 16, 0, 0, TEST_PIM};
    r[64] = (struct dram_request){2, 1, 0, 0, TEST_RD};
    test_run("frrr-fcfs", "", r, 65, 2);
    ck_assert_int_gt(test_sched[64], test_sched[15]);
    ck_assert_int_lt(test_sched[64], test_sched[16]);
}
END_TEST

TEST_MAIN("frrr-fcfs")
