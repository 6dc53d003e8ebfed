#include "models/gpu/launch.h"

#include "models/base/platform.h"
#include "trace/base/testing.h"

static const struct launch costs = {.enqueue_ns = 2500, .gap_ns = 2000, .alone_ns = 6000, .wait_ns = 13000};

/* When the last of n kernels of `work` ns ends, one by one. */
static double end_of(const struct launch *p, int n, double work, bool waited)
{
    double host = 0, end = 0;
    for (int i = 0; i < n; i++) {
        end = launch_start_ns(p, &host, end) + work;
        if (waited)
            end = launch_wait_ns(p, &host, end);
    }
    return end;
}

START_TEST(kernels_in_a_row_take_what_the_host_or_the_gpu_needs)
{
    for (double work = 0; work <= 50000; work += work < 1000 ? 100 : 1700) {
        const double each = fmax(2500, work + 2000);
        ck_assert_double_eq(end_of(&costs, 1, work, false), 6000 + work);
        ck_assert_double_eq_tol(end_of(&costs, 64, work, false), 6000 + work + 63 * each, 1e-6);
        ck_assert_double_eq_tol(launch_row_ns(&costs, 64, 64 * work), 6000 + 63 * each + work, 1e-6);
        ck_assert_double_eq_tol(end_of(&costs, 64, work, true), 64 * (6000 + work + 13000), 1e-6);
    }
}
END_TEST

START_TEST(the_host_is_ahead_behind_long_work)
{
    double host = 0;
    double end = launch_start_ns(&costs, &host, 0) + 100000; /* meanwhile 40 more are called */
    for (int i = 0; i < 39; i++, end += 100)
        ck_assert_double_eq(end = launch_start_ns(&costs, &host, end), 106000 + 2000 + i * 2100.0);
    host = 0; /* behind a copy that it waits for it is not */
    (void)launch_wait_ns(&costs, &host, 100000);
    ck_assert_double_eq(launch_start_ns(&costs, &host, 100000), 119000);
    ck_assert_double_eq(launch_start_ns(&costs, &host, 119000), 121500);
}
END_TEST

START_TEST(launches_of_a_line_take_what_was_measured)
{
    /* zero_copy_link, H100, driver 580.159.04, 2026-11: n launches of one line, which takes 1.35 us */
    static const struct {
        double n, ns;
    } rows[] = {{1, 8032}, {4, 17984}, {16, 62080}, {64, 226592}, {256, 901088}};
    struct platform *h100 = platform_load("h100", NULL);
    const struct launch *p = platform_section_get(h100, "launch");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_double_eq_tol(launch_row_ns(p, rows[i].n, rows[i].n * 1350) / rows[i].ns, 1, 0.05);
    platform_free(h100);
}
END_TEST

TEST_MAIN("launch")
