#include "models/dram/policy_testing.h"

START_TEST(a_pim_phase_serves_cap_requests_while_mem_waits)
{
    struct dram_request r[301];
    for (int i = 0; i < 300; i++)
        r[i] = (struct dram_request){0, 4096, 0, 0, TEST_PIM};
    r[300] = (struct dram_request){100, 1, 0, 0, TEST_RD};
    test_run("frfcfs-modecap", "cap=64", r, 301, 2);
    int before = 0;
    for (int i = 0; i < 301; i++)
        before += i != 300 && test_sched[i] < test_sched[300];
    ck_assert_int_eq(before, 64);
}
END_TEST

TEST_MAIN("frfcfs-modecap")
