#include "models/dram/policy_testing.h"

START_TEST(the_tiny_trace_is_done_as_on_the_artifacts_controller)
{
    test_tiny_done("f3fs", "mem_cap=256,pim_cap=256",
                   (const int64_t[]){25, 28, 55, 57, 151, 154, 95, 191, 218, 148, 193, 258});
}
END_TEST

/* PIM of one row with a MEM request behind the first four: how many PIM requests go first, and when MEM goes. */
static int pim_before_mem(const char *params, int64_t *sched)
{
    struct dram_request r[601];
    for (int i = 0; i < 600; i++)
        r[i] = (struct dram_request){0, 4096, 0, 0, TEST_PIM};
    r[600] = (struct dram_request){100, 1, 0, 0, TEST_RD};
    test_run("f3fs", params, r, 601, 2);
    int before = 0;
    for (int i = 0; i < 601; i++)
        before += i != 600 && test_sched[i] < test_sched[600];
    *sched = test_sched[600];
    return before;
}

START_TEST(caps_count_cycles_or_requests)
{
    int64_t short_cap, long_cap;
    (void)pim_before_mem("pim_cap=100", &short_cap);
    (void)pim_before_mem("pim_cap=200", &long_cap);
    ck_assert_int_ge(long_cap - short_cap, 98);
    ck_assert_int_le(long_cap - short_cap, 102);

    const int a = pim_before_mem("pim_cap=100,count=requests", &short_cap);
    const int b = pim_before_mem("pim_cap=200,count=requests", &long_cap);
    ck_assert_int_eq(b - a, 100);
    /* Some 36 are served before it comes, 64 wait and are older, 100 are younger. */
    ck_assert_int_ge(a, 164);
    ck_assert_int_le(a, 215);
}
END_TEST

START_TEST(a_cap_of_zero_is_none)
{
    int64_t sched;
    ck_assert_int_eq(pim_before_mem("pim_cap=0", &sched), 600);
}
END_TEST

TEST_MAIN("f3fs")
