#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("frfcfs-cap", "cap=32", (const int64_t[]){25, 28, 55, 57, 111, 95, 138, 194, 221, 191, 274, 301});
}
END_TEST

START_TEST(a_pim_phase_ends_after_cap_cycles_past_an_older_request)
{
    /* All PIM requests are of one row, so that no other rule ends the phase. */
    struct dram_request r[401];
    for (int i = 0; i < 400; i++)
        r[i] = (struct dram_request){0, 4096, 0, 0, TEST_PIM};
    r[400] = (struct dram_request){100, 1, 0, 0, TEST_RD};
    test_run("frfcfs-cap", "cap=32", r, 401, 2);
    const int64_t early = test_sched[400];
    test_run("frfcfs-cap", "cap=132", r, 401, 2);
    ck_assert_int_ge(test_sched[400] - early, 98);
    ck_assert_int_le(test_sched[400] - early, 102);
}
END_TEST

TEST_MAIN("frfcfs-cap", the_tiny_trace_is_done_as_on_the_artifacts_controller,
          a_pim_phase_ends_after_cap_cycles_past_an_older_request)
