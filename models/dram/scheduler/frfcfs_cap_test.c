#include "models/base/sections.h"
#include "models/dram/policy_testing.h"
#include "trace/base/param_value.h"

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

/* Cycle by cycle, PIM requests without end; a MEM request is older than those that come after it. */
START_TEST(the_mode_ends_with_the_cycle_above_the_cap)
{
    for (int64_t cap = 1; cap <= 64; cap += 21) {
        static struct dram_channel ch;
        struct dram_platform platform;
        int64_t counted = 0, now = 0;
        const struct dram_policy *p = (const struct dram_policy *)policy_find(dram_policies, "frfcfs-cap");
        test_start(p, testing_text("cap=%d", (int)cap));
        param_defaults(dram_params, &platform);
        ck_assert_int_eq(dram_channel_init(&ch, &platform, NULL), 0);
        bool began = false;
        for (uint32_t id = 0; !began || ch.mode == DRAM_PIM; now++) {
            ck_assert_int_lt(now, 5000);
            counted += ch.mode == DRAM_PIM && ch.waiting[DRAM_MEM] && ch.waiting[DRAM_PIM] && ch.older;
            (void)p->loops->step(&ch, test_state, now);
            ch.completion_head = ch.completion_tail;
            began |= ch.mode == DRAM_PIM;
            if (dram_channel_room(&ch, DRAM_PIM))
                p->loops->push(&ch, now, 4096, 0, TEST_PIM, id++);
            if (now == 100)
                p->loops->push(&ch, now, 1, 0, TEST_RD, id++);
        }
        ck_assert_int_eq(counted, cap + 1);
    }
}
END_TEST

TEST_MAIN("frfcfs-cap")
