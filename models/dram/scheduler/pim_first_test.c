#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("pim-first", "", (const int64_t[]){25, 28, 55, 57, 191, 194, 95, 231, 97, 188, 233, 135});
}
END_TEST

START_TEST(mem_waits_while_pim_requests_wait)
{
    struct dram_request r[101];
    r[0] = (struct dram_request){1, 1, 0, 0, TEST_RD};
    for (int i = 1; i < 101; i++)
        r[i] = (struct dram_request){0, 4096, 0, 0, TEST_PIM};
    test_run("pim-first", "", r, 101, 2);
    ck_assert_int_gt(test_sched[0], test_sched[100]);
}
END_TEST

TEST_MAIN("pim-first")
