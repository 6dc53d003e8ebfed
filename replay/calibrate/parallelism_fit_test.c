#include "replay/calibrate/parallelism_fit.h"

#include <math.h>

#include "trace/base/testing.h"

static uint64_t state = 9;
static double any(double lo, double hi)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(state >> 40) / 0x1p24;
}

static void fill(struct parallelism *p, double latency, double time, double most, double noise)
{
    *p = (struct parallelism){0};
    for (double n = most; n >= 1; n /= 2) /* in any order */
        ck_assert_int_eq(parallelism_add(p, n, fmax(latency / n, time) * any(1 - noise, 1 + noise), NULL), 0);
}

START_TEST(the_worked_example)
{
    struct parallelism p;
    fill(&p, 400, 5, 256, 0);
    ck_assert_int_eq(parallelism_solve(&p), 0);
    ck_assert_double_eq_tol(p.peak, 80, 1e-9);
    ck_assert_uint_eq(p.flat, 2);
    ck_assert_double_eq_tol(p.error, 0, 1e-6);
    free(p.rows);
}
END_TEST

START_TEST(noisy_rows_give_the_peak_within_their_error)
{
    int within = 0;
    for (int round = 0; round < 300; round++) {
        struct parallelism p;
        double latency = any(100, 800), peak = any(6, 100);
        fill(&p, latency, latency / peak, 1024, 0.03);
        ck_assert_int_eq(parallelism_solve(&p), 0);
        ck_assert_double_eq_tol(p.peak / peak, 1, 0.08);
        within += fabs(p.peak - peak) <= 2 * p.error;
        free(p.rows);
    }
    ck_assert_int_gt(within, 240);
}
END_TEST

START_TEST(throughput_that_never_levels_off_gives_no_peak)
{
    struct parallelism p;
    fill(&p, 400, 1, 64, 0);
    ck_assert_int_eq(parallelism_solve(&p), -1);
    free(p.rows);
    fill(&p, 400, 5, 4, 0); /* three rows */
    ck_assert_int_eq(parallelism_solve(&p), -1);
    free(p.rows);
}
END_TEST

TEST_MAIN("parallelism_fit", the_worked_example, noisy_rows_give_the_peak_within_their_error,
          throughput_that_never_levels_off_gives_no_peak)
