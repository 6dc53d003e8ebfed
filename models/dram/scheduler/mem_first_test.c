#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("mem-first", "", (const int64_t[]){25, 28, 92, 175, 27, 31, 215, 65, 217, 145, 148, 255});
}
END_TEST

START_TEST(pim_waits_while_mem_requests_keep_coming)
{
    struct dram_request r[101] = {{20, 4096, 0, 0, TEST_PIM}};
    for (int i = 1; i < 101; i++)
        r[i] = (struct dram_request){i - 1, 1 + (uint32_t)i, 0, (uint8_t)(i % 2), TEST_RD};
    test_run("mem-first", "", r, 101, 2);
    int64_t last = 0;
    for (int i = 1; i < 101; i++)
        last = test_sched[i] > last ? test_sched[i] : last;
    ck_assert_int_gt(test_sched[0], last);
}
END_TEST

TEST_MAIN("mem-first")
