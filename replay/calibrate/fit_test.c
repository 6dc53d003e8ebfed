#include "replay/calibrate/fit.h"

#include <math.h>

#include "trace/base/testing.h"

START_TEST(an_exact_line_is_found_exactly)
{
    struct fit fit;
    fit_init(&fit, 2);
    for (int i = 1; i <= 10; i++)
        fit_add(&fit, (double[]){1, i * 4096.0}, 2500 + i * 4096.0 / 53.3, 1);
    ck_assert_int_eq(fit_solve(&fit, NULL), 0);
    ck_assert_double_eq_tol(fit.x[0], 2500, 1e-6);
    ck_assert_double_eq_tol(fit.x[1], 1 / 53.3, 1e-9);
    ck_assert_double_eq_tol(fit.r2, 1, 1e-9);
}
END_TEST

START_TEST(unknowns_stay_at_zero_where_they_would_be_negative)
{
    /* y = 3 b - a: a is bounded; the best b alone is sum(b y) / sum(b b) */
    struct fit fit;
    fit_init(&fit, 2);
    double by = 0, bb = 0;
    for (int i = 1; i <= 8; i++) {
        double b = i % 3 + 1, y = 3 * b - 1;
        fit_add(&fit, (double[]){1, b}, y, 1);
        by += b * y;
        bb += b * b;
    }
    ck_assert_int_eq(fit_solve(&fit, NULL), 0);
    ck_assert(fit.at_bound[0]);
    ck_assert_double_eq(fit.x[0], 0);
    ck_assert_double_eq_tol(fit.x[1], by / bb, 1e-9);
}
END_TEST

START_TEST(what_rows_cannot_tell_apart_has_an_infinite_error)
{
    struct fit fit;
    fit_init(&fit, 2);
    for (int i = 1; i <= 5; i++)
        fit_add(&fit, (double[]){i, 2.0 * i}, 6 * i, 1);
    ck_assert_int_eq(fit_solve(&fit, NULL), 0);
    ck_assert(isinf(fit.error[0]) || isinf(fit.error[1]));
    ck_assert_double_eq_tol(fit.x[0] + 2 * fit.x[1], 6, 1e-9);
}
END_TEST

START_TEST(too_few_rows_are_refused)
{
    struct fit fit;
    fit_init(&fit, 2);
    fit_add(&fit, (double[]){1, 2}, 3, 1);
    FAILS_AS(fit_solve(&fit, &err), "1 rows are too few for 2 unknown numbers");
}
END_TEST

TEST_MAIN("fit")
