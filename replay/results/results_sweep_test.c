#include "replay/results/results.h"

#include "trace/base/testing.h"

static struct err err;

static struct results *opened(const char *name, enum results_mode mode)
{
    struct results *results = results_open(testing_file(name), mode, &err);
    ck_assert_msg(results != NULL, "%s", err.msg);
    return results;
}

static int64_t unfinished(const char *name)
{
    struct results_counts counts;
    struct results *results = opened(name, RESULTS_READ);
    ck_assert_msg(results_check(results, &counts, &err) == 0, "%s", err.msg);
    results_close(results);
    return counts.sweeps;
}

START_TEST(a_file_says_which_sweeps_have_not_ended)
{
    for (int again = 0; again < 2; again++) { /* begun twice, as after a kill, it has still ended once */
        struct results *results = opened("r.db", RESULTS_APPEND);
        ck_assert_int_eq(results_sweeping(results, "one", &err), again);
        ck_assert_int_eq(results_sweep_begin(results, "one", 40, &err), 0);
        ck_assert_int_eq(results_sweep_begin(results, "two", 5, &err), 0);
        ck_assert_int_eq(results_sweeping(results, "one", &err), 1);
        results_close(results);
        ck_assert_int_eq(unfinished("r.db"), 2);
    }
    struct results *results = opened("r.db", RESULTS_APPEND);
    ck_assert_int_eq(results_sweep_end(results, "one", &err), 0);
    ck_assert_int_eq(results_sweep_end(results, "never begun", &err), 0);
    results_close(results);
    ck_assert_int_eq(unfinished("r.db"), 1);
}
END_TEST

START_TEST(what_is_merged_of_unfinished_files_is_unfinished)
{
    struct results *results = opened("part.db", RESULTS_APPEND);
    ck_assert_int_eq(results_sweep_begin(results, "one", 40, &err), 0);
    results_close(results);
    results_close(opened("done.db", RESULTS_APPEND));
    const char *from[] = {strdup(testing_file("part.db")), strdup(testing_file("done.db"))};
    for (size_t first = 0; first < 2; first++) {
        struct results *all = results_open(testing_file("all.db"), RESULTS_FORCE, &err);
        ck_assert_int_eq(results_merge(all, from + first, 2 - first, &err), 0);
        ck_assert_int_eq(results_finish(all, &err), 0);
        results_close(all);
        ck_assert_int_eq(unfinished("all.db"), !first);
    }
    free((void *)from[0]);
    free((void *)from[1]);
}
END_TEST

TEST_MAIN("results_sweep")
