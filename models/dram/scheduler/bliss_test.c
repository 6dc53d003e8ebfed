#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("bliss", "bug=1", (const int64_t[]){25, 28, 55, 57, 111, 95, 138, 194, 140, 191, 196, 221});
}
END_TEST

START_TEST(the_sixth_request_in_a_row_blacklists_pim)
{
    /* PIM of one row: frfcfs alone would serve all of it before a younger MEM request. */
    struct dram_request r[65];
    for (int i = 0; i < 64; i++)
        r[i] = (struct dram_request){0, 4096, 0, 0, TEST_PIM};
    r[64] = (struct dram_request){2, 1, 0, 0, TEST_RD};
    test_run("bliss", "", r, 65, 2);
    int before = 0;
    for (int i = 0; i < 64; i++)
        before += test_sched[i] < test_sched[64];
    ck_assert_int_eq(before, 6);
}
END_TEST

/* Alone, PIM is blacklisted from its sixth request on until the clearing: MEM, of which there is none, would go first.
 */
START_TEST(cycles_under_a_blacklist_are_those_of_the_clock)
{
    struct dram_request r[64];
    for (int i = 0; i < 64; i++)
        r[i] = (struct dram_request){0, 4096, 0, 0, TEST_PIM};
    test_run("bliss", "", r, 64, 1);
    const struct dram_policy *p = (const struct dram_policy *)policy_find(dram_policies, "bliss");
    ck_assert_int_eq(p->favoured_cycles(test_state, DRAM_PIM), 0);
    ck_assert_int_eq(p->favoured_cycles(test_state, DRAM_MEM), test_done[63] - 1 - test_sched[5]);
}
END_TEST

/* Random mixes: with bug=1 some stop for good and say so; with the state reset every one ends. */
START_TEST(the_artifacts_bug_starves_some_mixes_and_the_default_none)
{
    static struct dram_request r[3000];
    int stuck = 0;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15);
        int64_t t = 0;
        for (int i = 0; i < 3000; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
            const uint32_t z = (uint32_t)(x >> 33);
            t += (z & 7) == 0;
            if (z >> 3 & 1)
                r[i] = (struct dram_request){t, 4096 + (uint32_t)(i / 48 % 8), 0, 0, TEST_PIM};
            else
                r[i] = (struct dram_request){t, 1 + (z >> 4 & 3), 0, (uint8_t)(z >> 8 & 15), TEST_RD};
        }
        test_run("bliss", "interval=300", r, 3000, 1);
        test_run_limited("bliss", "interval=300,bug=1", r, 3000, 1, 0);
        stuck += test_feed.stuck;
        ck_assert(test_feed.stuck != test_feed.finished);
    }
    ck_assert_int_gt(stuck, 0);
}
END_TEST

TEST_MAIN("bliss")
