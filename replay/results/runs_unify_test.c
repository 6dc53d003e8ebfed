#include "replay/results/runs.h"

#include "replay/results/testing_runs.h"

/* A document of two policies, as replay prints it. */
static void add(struct run_set *set, const char *place, const char *input, json_t *faults, int pct)
{
    testing_add_runs(set, place,
                     json_pack("{s:s,s:s,s:s,s:{s:i},s:[{s:s,s:{s:O},s:{s:[i,i]}},{s:s,s:{s:i}}],s:{s:s}}", "engine",
                               "uvm", "input", input, "platform", "titanv", "settings", "pct", pct, "runs", "policy",
                               "tree", "metrics", "faults", faults, "interval", "time_ns", 1, 2, "policy", "none",
                               "metrics", "faults", 9, "baseline", "policy", "none"));
}

START_TEST(the_same_run_of_several_files_is_there_once)
{
    struct run_set set = {0};
    json_t *seven = json_integer(7), *real = json_real(7);
    add(&set, "a.json", "x", seven, 0);
    add(&set, "b.json", "x", real, 0);
    add(&set, "b.json", "x", seven, 5);
    add(&set, "b.json", "y", seven, 0);
    WORKS(run_set_unify(&set, &err));
    ck_assert_uint_eq(set.count, 6);
    ck_assert_str_eq(set.runs[1].file, "a.json");
    ck_assert_str_eq(set.runs[2].file, "b.json");
    WORKS(run_set_unify(&set, &err));
    ck_assert_uint_eq(set.count, 6);
    run_set_release(&set);
    json_decref(seven);
    json_decref(real);
}
END_TEST

START_TEST(other_numbers_are_an_error_that_names_both)
{
    struct run_set set = {0};
    struct err err = {""};
    json_t *seven = json_integer(7), *eight = json_integer(8);
    add(&set, "a.json", "x", seven, 0);
    add(&set, "b.json", "x", eight, 0);
    ck_assert_int_eq(run_set_unify(&set, &err), -1);
    ck_assert_msg(strstr(err.msg, "a.json") && strstr(err.msg, "b.json") && strstr(err.msg, "policy tree") &&
                      strstr(err.msg, "'x'"),
                  "%s", err.msg);
    ck_assert_uint_eq(set.count, 4);
    run_set_release(&set);
    json_decref(seven);
    json_decref(eight);
}
END_TEST

START_TEST(values_are_equal_by_value)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {{"[5]", "[5.0]", true},
                 {"[5]", "[5.5]", false},
                 {"[9007199254740993]", "[9007199254740992]", false},
                 {"{\"a\":[1,{\"b\":2}]}", "{\"a\":[1.0,{\"b\":2}]}", true},
                 {"{\"a\":1,\"b\":null}", "{\"b\":null,\"a\":1}", true},
                 {"{\"a\":1}", "{\"b\":1}", false},
                 {"[1,2]", "[1]", false},
                 {"[null]", "[0]", false},
                 {"[\"x\"]", "[\"y\"]", false}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        json_t *a = json_loads(pairs[i].a, 0, NULL), *b = json_loads(pairs[i].b, 0, NULL);
        ck_assert_msg(run_same_value(a, b) == pairs[i].same, "%s and %s", pairs[i].a, pairs[i].b);
        json_decref(a);
        json_decref(b);
    }
}
END_TEST

TEST_MAIN("runs_unify")
