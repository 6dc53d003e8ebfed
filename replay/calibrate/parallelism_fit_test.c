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

/* One side by hand: f shape / time is to be 1; f = sum a / sum a^2 of a = shape / time, and n - (sum a)^2 / sum a^2 is
 * left. Returns the square of the factor's relative standard error. */
static double side(const struct parallelism *p, size_t from, size_t to, bool falls, double *factor, double *left)
{
    double sum = 0, squares = 0;
    for (size_t i = from; i < to; i++) {
        const double a = (falls ? 1 / p->rows[i].in_flight : 1) / p->rows[i].time;
        sum += a;
        squares += a * a;
    }
    *factor = sum / squares;
    *left = fmax((double)(to - from) - sum * sum / squares, 0);
    return *left / (double)(to - from - 1) / squares / (*factor * *factor);
}

START_TEST(results_are_those_of_least_squares_on_both_sides)
{
    for (int round = 0; round < 200; round++) {
        struct parallelism p;
        const double latency = any(100, 800), noise = any(0.001, 0.1);
        fill(&p, latency, latency / any(6, 100), 1024, noise);
        ck_assert_int_eq(parallelism_solve(&p), 0);
        const size_t cut = p.count - p.flat;
        double falls, level, left[2], mean = 0, spread = 0;
        const double e1 = side(&p, 0, cut, true, &falls, &left[0]),
                     e2 = side(&p, cut, p.count, false, &level, &left[1]);
        for (size_t i = 0; i < p.count; i++) {
            ck_assert(i == 0 || p.rows[i].in_flight > p.rows[i - 1].in_flight);
            mean += p.rows[i].time / (double)p.count;
        }
        for (size_t i = 0; i < p.count; i++)
            spread += pow(mean / p.rows[i].time - 1, 2);
        ck_assert_double_eq_tol(p.peak, falls / level, 1e-9 * p.peak);
        ck_assert_double_eq_tol(p.error, p.peak * sqrt(e1 + e2), 1e-6 * p.peak);
        ck_assert_uint_eq(p.fit.rows, p.count);
        ck_assert_double_eq_tol(p.fit.rms, sqrt((left[0] + left[1]) / (double)p.count), 1e-7);
        ck_assert_double_eq_tol(p.fit.r2, 1 - (left[0] + left[1]) / spread, 1e-9);
        free(p.rows);
    }
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
          results_are_those_of_least_squares_on_both_sides, throughput_that_never_levels_off_gives_no_peak)
