#include "models/gpu/issue.h"

#include "models/base/sections.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

static struct gpu volta(void)
{
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.clock_hz = 1455000000;
    return gpu;
}

START_TEST(the_three_bounds_of_the_worked_example)
{
    struct gpu g = volta();
    struct issue i;
    issue_init(&i, &g, 1 << 20, 64);
    ck_assert_double_eq_tol(i.load_ns + i.instruction_ns * 40, 406, 0.5);
    ck_assert_double_eq_tol(i.crowd_ns * 40, 440, 0.5);
    ck_assert_double_eq_tol(i.sector_ns * 16, 4016, 1);
    ck_assert_double_eq_tol(issue_ns(&i, 40, 16, true, 1), 4016, 1);
    ck_assert_double_eq_tol(issue_ns(&i, 40, 0, true, 1), 440, 0.5);
    ck_assert_double_eq_tol(issue_ns(&i, 4, 0, true, 1), 307, 0.5);
    ck_assert_double_eq_tol(issue_ns(&i, 4, 0, false, 1), 44, 0.5);
    /* An eighth of the warps runs: 502 ns of memory; one alone: its own chain. */
    ck_assert_double_eq_tol(issue_ns(&i, 40, 16, true, 0.125), 502, 0.5);
    ck_assert_double_eq_tol(issue_ns(&i, 40, 16, true, 1.0 / 5120), 406, 0.5);
}
END_TEST

START_TEST(a_lone_warp_waits_for_nobody)
{
    struct gpu g = volta();
    struct issue i;
    issue_init(&i, &g, 1, 64);
    ck_assert_double_eq_tol(i.crowd_ns, 1 / (4 * 1.455), 1e-6);
    ck_assert_double_eq_tol(i.sector_ns, 32 / 652.8, 1e-6);
    issue_init(&i, &g, 81, 64); /* two warps on one of the multiprocessors */
    ck_assert_double_eq_tol(i.crowd_ns, 2 / (4 * 1.455), 1e-6);
}
END_TEST

/* A kernel that only streams takes the bytes over the bandwidth, however it is cut into steps. */
START_TEST(streaming_reaches_the_bandwidth_and_no_more)
{
    struct gpu g = volta();
    for (uint32_t sectors = 8; sectors <= 64; sectors *= 2) {
        struct issue i;
        uint64_t warps = 5120 * 100;
        issue_init(&i, &g, warps, 64);
        double total = issue_ns(&i, 10, sectors, true, 1) * 100, bytes = (double)warps * sectors * 32;
        ck_assert_double_ge(total, bytes / 652.8 - 1);
        if (sectors >= 16)
            ck_assert_double_le(total, bytes / 652.8 + 1);
    }
}
END_TEST

TEST_MAIN("issue", the_three_bounds_of_the_worked_example, a_lone_warp_waits_for_nobody,
          streaming_reaches_the_bandwidth_and_no_more)
