#include "replay/run/aggregate.h"

#include "replay/results/testing_runs.h"
#include "trace/base/mem.h"

START_TEST(aggregates_are_what_they_say)
{
    const double v[] = {1, 4, 16};
    ck_assert_double_eq(aggregate_values(AGGREGATE_SUM, NULL, v, 3).real, 21);
    ck_assert_double_eq(aggregate_values(AGGREGATE_MIN, NULL, v, 3).real, 1);
    ck_assert_double_eq(aggregate_values(AGGREGATE_MAX, NULL, v, 3).real, 16);
    ck_assert_double_eq(aggregate_values(AGGREGATE_MEAN, NULL, v, 3).real, 7);
    ck_assert_double_eq_tol(aggregate_values(AGGREGATE_GEOMEAN, NULL, v, 3).real, 4, 1e-12);
    ck_assert(!aggregate_values(AGGREGATE_MEAN, NULL, v, 0).known);
    ck_assert_double_eq(aggregate_values(AGGREGATE_DECLARED, NULL, v, 3).real, 7); /* of one that is not known */
    const double z[] = {0, 4}, below[] = {-1, 4}, halves[] = {2, 3};
    ck_assert(!aggregate_values(AGGREGATE_GEOMEAN, NULL, below, 2).known);
    ck_assert_int_eq(aggregate_values(AGGREGATE_MEAN, NULL, halves, 2).whole, 3);
    ck_assert_double_eq(aggregate_values(AGGREGATE_GEOMEAN, NULL, z, 2).real, 0);
    const struct metric m = {"x_ns", METRIC_REAL, METRIC_MIN, ""};
    ck_assert_double_eq(aggregate_values(AGGREGATE_DECLARED, &m, v, 3).real, 1);
}
END_TEST

static void add(struct run_set *set, const char *input, double time, const char *interval, bool baseline)
{
    char text[600];
    (void)snprintf(
        text, sizeof text,
        "{\"engine\":\"uvm\",\"input\":\"%s\",\"platform\":\"x\",\"settings\":{},\"runs\":[{\"policy\":\"tree\","
        "\"params\":{},\"metrics\":{\"time_ns\":%g,\"speedup_ratio\":%g,\"faults\":%s},\"interval\":{%s}}]%s}",
        input, time, 100 / time, *interval ? "null" : "7", interval,
        baseline ? ",\"baseline\":{\"policy\":\"tree\",\"params\":{}}" : "");
    testing_add_runs(set, "test", json_loads(text, 0, NULL));
}

START_TEST(intervals_combine_and_baselines_stay_out_of_speedups)
{
    struct run_set set = {0};
    add(&set, "a", 100, "", true);
    add(&set, "b", 25, "\"faults\":[3,11]", false);
    add(&set, "c", 400, "", false);
    const struct run *runs[] = {&set.runs[0], &set.runs[1], &set.runs[2]};
    struct metric_value v;
    ck_assert_int_eq(aggregate_runs(AGGREGATE_DECLARED, "speedup_ratio", runs, 3, &v, NULL, NULL), 0);
    ck_assert(v.known);
    ck_assert_double_eq_tol(v.real, 1, 1e-12); /* geometric mean of 4 and 0.25 */
    ck_assert_int_eq(aggregate_runs(AGGREGATE_DECLARED, "time_ns", runs, 3, &v, NULL, NULL), 0);
    ck_assert_double_eq(v.real, 525);
    ck_assert_int_eq(aggregate_runs(AGGREGATE_DECLARED, "faults", runs, 3, &v, NULL, NULL), 0);
    ck_assert(!v.known && v.interval);
    ck_assert_double_eq(v.lo, 17);
    ck_assert_double_eq(v.hi, 25);
    ck_assert_int_eq(aggregate_runs(AGGREGATE_DECLARED, "speedup_ratio", runs, 1, &v, NULL, NULL), 0);
    ck_assert(v.known && v.real == 1); /* of baselines alone */
    json_object_set_new(set.runs[0].interval, "time_ns", json_null());
    ck_assert_int_eq(aggregate_runs(AGGREGATE_DECLARED, "time_ns", runs, 3, &v, NULL, NULL), 0);
    ck_assert(v.known && v.unbound && !v.interval && v.real == 525);
    json_object_set_new(set.runs[2].interval, "faults", json_null()); /* beside an interval: no ends, no value */
    ck_assert_int_eq(aggregate_runs(AGGREGATE_DECLARED, "faults", runs, 3, &v, NULL, NULL), 0);
    ck_assert(!v.known && !v.interval);
    size_t left = 9;
    ck_assert_int_eq(aggregate_runs(AGGREGATE_DECLARED, "nothing", runs, 3, &v, &left, NULL), 0);
    ck_assert(!v.known && !v.interval && left == 3);
    run_set_release(&set);
}
END_TEST

START_TEST(inputs_are_combined_and_nothing_else)
{
    struct run_set set = {0};
    size_t fewest, most, without;
    add(&set, "synth:a,n=1", 10, "", false);
    add(&set, "synth:a,n=2", 20, "", false);
    add(&set, "synth:b", 40, "", false);
    WORKS(aggregate_inputs(&set, "n", AGGREGATE_DECLARED, &fewest, &most, &without, &err));
    ck_assert_uint_eq(set.count, 2);
    ck_assert_uint_eq(without, 1);
    WORKS(aggregate_inputs(&set, NULL, AGGREGATE_DECLARED, &fewest, &most, &without, &err));
    ck_assert_uint_eq(set.count, 1);
    ck_assert(fewest == 2 && most == 2);
    double time;
    ck_assert(run_metric(&set.runs[0], "time_ns", &time) && time == 30);
    ck_assert(json_is_integer(json_object_get(set.runs[0].metrics, "faults")));
    run_set_release(&set);
}
END_TEST

/* What is best of the fixed ones has other parameters for each input; what is not bounded in one is not in all. */
START_TEST(the_best_fixed_policy_is_one_and_a_baseline_is_none_any_more)
{
    struct run_set set = {0};
    struct err err = {""};
    size_t fewest, most, without;
    add(&set, "a", 10, "", true);
    add(&set, "b", 20, "", true);
    for (int i = 0; i < 2; i++) {
        free(set.runs[i].policy);
        set.runs[i].policy = mem_strdup("best fixed", &err);
        ck_assert_ptr_nonnull(set.runs[i].policy);
        json_object_set_new(set.runs[i].params, "granularity", json_integer(i));
    }
    json_object_set_new(set.runs[0].interval, "time_ns", json_null());
    ck_assert_int_eq(aggregate_inputs(&set, NULL, AGGREGATE_DECLARED, &fewest, &most, &without, &err), 0);
    ck_assert_uint_eq(set.count, 1);
    ck_assert(!set.runs[0].baseline && run_unbound(&set.runs[0], "time_ns"));
    run_set_release(&set);
}
END_TEST

/* Settings that are no object have no hash, and no group: the runs stay as they are. */
START_TEST(a_run_that_cannot_be_grouped_is_an_error_and_changes_nothing)
{
    for (size_t bad = 0; bad < 3; bad++) {
        struct run_set set = {0};
        struct err err = {""};
        size_t fewest = 7, most = 7, without;
        add(&set, "a", 10, "", false);
        add(&set, "b", 20, "", false);
        add(&set, "c", 40, "", false);
        json_decref(set.runs[bad].run_case.settings);
        set.runs[bad].run_case.settings = json_array();
        const struct run *runs = set.runs;
        ck_assert_int_eq(aggregate_inputs(&set, NULL, AGGREGATE_DECLARED, &fewest, &most, &without, &err), -1);
        ck_assert_str_ne(err.msg, "");
        ck_assert_ptr_eq(set.runs, runs);
        ck_assert_uint_eq(set.count, 3);
        ck_assert(fewest == 7 && most == 7);
        run_set_release(&set);
    }
}
END_TEST

TEST_MAIN("aggregate")
