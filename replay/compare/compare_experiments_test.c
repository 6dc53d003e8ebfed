#include "replay/compare/compare.h"

#include <math.h>
#include <stdlib.h>

#include "replay/compare/compare_testing.h"

static void set_row(struct compare_row *row, enum compare_mechanism mechanism, double lo, double hi, double error)
{
    *row = (struct compare_row){.mechanism = mechanism, .answered = true, .error_ratio = error};
    ck_assert_int_eq(outcome_init(&row->outcome, compare_metrics, &err), 0);
    outcome_real(&row->outcome, "time_ns", lo);
    if (hi > lo)
        outcome_interval(&row->outcome, "time_ns", lo, hi);
}

/* A time that was measured is a row without an error: below one threshold it is not tied and less, above the other not
 * tied and more, between them tied. */
START_TEST(thresholds_are_where_a_measured_time_is_no_longer_tied)
{
    unsigned seed = 3;
    for (int i = 0; i < 2000; i++) {
        struct compare_row rows[2], measured;
        double lo[2], hi[2];
        for (int r = 0; r < 2; r++) {
            lo[r] = 1000 + rand_r(&seed) % 1000;
            hi[r] = lo[r] + (rand_r(&seed) % 2) * (rand_r(&seed) % 500);
            set_row(&rows[r], r ? COMPARE_MANAGED : COMPARE_COPY, lo[r], hi[r], (rand_r(&seed) % 20) / 100.0);
        }
        const struct compare_result two = {.rows = rows, .count = 2, .top = 2};
        for (size_t r = 0; r < 2; r++) {
            struct compare_experiment x;
            double m = 800 + rand_r(&seed) % 1700;
            two.rows[r].stock = false;
            ck_assert(compare_experiment(&two, r, &x));
            ck_assert_uint_eq(x.rival, 1 - r);
            ck_assert_double_lt(x.wins, x.loses * (1 + 1e-12));
            set_row(&measured, COMPARE_COPY, m, m, 0);
            bool tied = compare_tied(&measured, &rows[x.rival]);
            ck_assert_int_eq(!tied && m < lo[x.rival], m < x.wins);
            ck_assert_int_eq(!tied && m > hi[x.rival], m > x.loses);
            outcome_release(&measured.outcome);
            /* Closed: none of the predicted times is on the side that matters. */
            if (!x.open)
                ck_assert(r ? x.lo >= x.loses : x.hi <= x.wins);
            ck_assert_double_le(x.lo, lo[r]);
            ck_assert_double_ge(x.hi, hi[r]);
        }
        outcome_release(&rows[0].outcome);
        outcome_release(&rows[1].outcome);
    }
}
END_TEST

START_TEST(what_no_driver_does_is_no_experiment_and_a_row_alone_has_no_rival)
{
    struct compare_experiment x;
    struct compare_row row;
    char text[2000];
    set_row(&row, COMPARE_MANAGED, 100, 100, 0.1);
    const struct compare_result one = {.rows = &row, .count = 1};
    row.stock = false;
    ck_assert(compare_experiment(&one, 0, &x));
    ck_assert(x.rival == x.row && isnan(x.wins) && isnan(x.loses));
    ck_assert_ptr_null(strstr(compare_experiment_say(&one, &x, text, sizeof text), "beats"));
    compare_plan_say(&row, "no driver does this: it needs a changed one");
    ck_assert(!compare_experiment(&one, 0, &x));
    compare_row_release(&row);
}
END_TEST

/* The JSON and the sentences of a comparison: one of each mechanism, flips as robustness has them. */
START_TEST(an_experiment_says_what_it_settles)
{
    compare_asked(
        (struct compare_request){.spec = "synth:array,bytes=4MiB", .platform = "h200", .threads = 2, .top = 3});
    struct robust *r = &result.robust; /* of the first row one number flips the winning */
    r->numbers = calloc(1, sizeof *r->numbers);
    r->flips = calloc(1, sizeof *r->flips);
    ck_assert(platform_axis(result.platform, 0, &r->numbers->axis));
    r->flips->at = r->numbers->axis.high;
    r->number_count = r->flip_count = result.drawn = 1;
    char name[160];
    const char *at = testing_text("%s", platform_axis_name(&r->numbers->axis, name, sizeof name));
    size_t rows[COMPARE_MECHANISMS], n = compare_best_rows(&result, 3, rows), settled = 0;
    ck_assert_uint_eq(n, 3);
    json_t *list = compare_experiments_json(&result, 3);
    ck_assert_uint_eq(json_array_size(list), n);
    ck_assert_str_eq(json_string_value(json_object_get(
                         json_array_get(json_object_get(json_array_get(list, 0), "settles"), 0), "number")),
                     at);
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_array_get(list, i);
        size_t flips = 0;
        for (size_t k = 0; k < result.robust.flip_count; k++)
            flips += result.robust.flips[k].answer == rows[i];
        ck_assert_str_eq(json_string_value(json_object_get(one, "mechanism")),
                         compare_mechanisms[result.rows[rows[i]].mechanism]);
        ck_assert_uint_eq(json_array_size(json_object_get(one, "settles")), rows[i] < result.drawn ? flips : 0);
        settled += json_array_size(json_object_get(one, "settles"));
        struct compare_experiment x;
        char text[4096];
        ck_assert(compare_experiment(&result, rows[i], &x));
        const char *said = compare_experiment_say(&result, &x, text, sizeof text);
        ck_assert_int_eq(strstr(said, "the result also says") != NULL, x.settles[0] != 0);
        ck_assert_int_eq(strstr(said, "offchip record --apply plan.ini") != NULL,
                         &result.rows[rows[i]] == compare_plannable(&result));
    }
    ck_assert_uint_eq(settled, 1);
    json_decref(list);
    result.drawn = 0; /* the JSON of all has them too, where they were asked for */
    json_t *root = compare_to_json(&result, &err);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "experiments")), n);
    json_decref(root);
    compare_release(&result);
}
END_TEST

TEST_MAIN("compare_experiments")
