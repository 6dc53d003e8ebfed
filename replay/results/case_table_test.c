#include "replay/results/case_table.h"

#include "replay/results/testing_runs.h"

/* One run of a document as `replay --format json` prints it. */
static void add(struct run_set *set, const char *file, const char *inputs, const char *platform, const char *numbers,
                const char *settings, const char *policy, const char *params, double time)
{
    char text[2000];
    (void)snprintf(
        text, sizeof text,
        "{\"engine\":\"uvm\",\"input\":\"x\",\"platform\":\"%s\",\"settings\":%s,\"runs\":[{\"policy\":\"%s\","
        "\"params\":%s,\"metrics\":{\"time_ns\":%g}}],\"baseline\":{\"policy\":\"%s\",\"params\":{}},"
        "\"case\":{\"engine\":\"uvm\",\"inputs\":%s,\"platform\":\"%s\",\"numbers\":%s,\"settings\":%s,"
        "\"version\":\"v\"}}",
        platform, settings, policy, params, time, strcmp(file, "b.json") == 0 ? "other" : "tree", inputs, platform,
        numbers, settings);
    testing_add_runs(set, file, json_loads(text, 0, NULL));
}

static void make(struct case_table *table, struct run_set *set, const char *apart)
{
    WORKS(case_table_make(table, set, apart, &err));
}

#define ONE(SPEC, HASH) "[{\"role\":\"\",\"input\":\"" SPEC "\",\"hash\":\"" HASH "\"}]"

START_TEST(the_fewest_keys_tell_cases_apart)
{
    struct run_set set = {0};
    struct case_table t;
    /* bytes follows from steps; so does the workload, but that is always named */
    add(&set, "a", ONE("synth:f,steps=1,bytes=1", "01"), "p", "{}", "{\"pct\":0,\"x\":1}", "tree", "{}", 1);
    add(&set, "a", ONE("synth:f,steps=2,bytes=2", "02"), "p", "{}", "{\"pct\":0,\"x\":1}", "tree", "{}", 2);
    add(&set, "a", ONE("synth:g,steps=3,bytes=3", "03"), "p", "{}", "{\"pct\":150,\"x\":1}", "tree", "{}", 3);
    make(&t, &set, NULL);
    ck_assert_uint_eq(t.rows, 3);
    ck_assert_uint_eq(t.key_count, 2);
    ck_assert_str_eq(t.keys[0], "workload");
    ck_assert_str_eq(t.keys[1], "steps");
    ck_assert_str_eq(t.row_labels[2], "g steps=3");
    case_table_release(&t);
    make(&t, &set, "steps"); /* what changes along an axis still tells the lines apart */
    ck_assert_uint_eq(t.rows, 3);
    ck_assert_str_eq(t.apart[1], "2");
    case_table_release(&t);
    run_set_release(&set);
}
END_TEST

START_TEST(files_of_one_name_are_named_with_their_folders)
{
    struct run_set set = {0};
    struct case_table t;
    add(&set, "a", ONE("one/x/t.db", "01"), "p", "{}", "{}", "tree", "{}", 1);
    add(&set, "a", ONE("two/x/t.db", "02"), "p", "{}", "{}", "tree", "{}", 2);
    add(&set, "a", ONE("two/x/u.db", "03"), "p", "{}", "{}", "tree", "{}", 3);
    add(&set, "a", ONE("two/x/u.db", "04"), "p", "{}", "{}", "tree", "{}", 4); /* made anew since */
    make(&t, &set, NULL);
    ck_assert_uint_eq(t.rows, 4);
    ck_assert_str_eq(t.texts[0], "one/x/t.db");
    ck_assert_str_eq(t.texts[t.key_count], "two/x/t.db");
    ck_assert_str_eq(t.texts[2 * t.key_count], "u.db");
    ck_assert_str_eq(t.keys[1], "content");
    ck_assert_str_ne(t.row_labels[2], t.row_labels[3]);
    case_table_release(&t);
    run_set_release(&set);
}
END_TEST

START_TEST(platforms_of_one_name_are_told_apart_by_a_number)
{
    struct run_set set = {0};
    struct case_table t;
    add(&set, "a", ONE("synth:f", "01"), "titanv", "{\"uvm.a\":1,\"uvm.b\":5,\"uvm.c\":1}", "{}", "tree", "{}", 1);
    add(&set, "a", ONE("synth:f", "01"), "titanv", "{\"uvm.a\":1,\"uvm.b\":6,\"uvm.c\":2}", "{}", "tree", "{}", 2);
    make(&t, &set, NULL);
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_uint_eq(t.key_count, 1);
    ck_assert_str_eq(t.keys[0], "uvm.b");
    ck_assert_str_eq(t.row_labels[0], "f uvm.b=5");
    case_table_release(&t);
    run_set_release(&set);
}
END_TEST

START_TEST(the_same_run_twice_is_one_and_another_in_its_cell_an_error_that_names_both)
{
    struct run_set set = {0};
    struct case_table t;
    struct err err = {""};
    add(&set, "a.json", ONE("synth:f", "01"), "p", "{}", "{}", "tree", "{}", 1);
    add(&set, "c.json", ONE("other-name.db", "01"), "p", "{}", "{}", "tree", "{}", 1); /* the same content */
    make(&t, &set, NULL);
    ck_assert_uint_eq(t.rows, 1);
    ck_assert(!t.twice[0] && t.twice[1]);
    case_table_release(&t);
    add(&set, "d.json", ONE("synth:f", "01"), "p", "{}", "{}", "tree", "{}", 2);
    ck_assert_int_eq(case_table_make(&t, &set, NULL, &err), -1);
    ck_assert_msg(strstr(err.msg, "'a.json'") && strstr(err.msg, "'d.json'") && strstr(err.msg, "time_ns"), "%s",
                  err.msg);
    run_set_release(&set);
}
END_TEST

START_TEST(what_differs_only_in_its_baseline_is_two_cases)
{
    struct run_set set = {0};
    struct case_table t;
    add(&set, "a.json", ONE("synth:f", "01"), "p", "{}", "{}", "fixed", "{}", 1);
    add(&set, "b.json", ONE("synth:f", "01"), "p", "{}", "{}", "fixed", "{}", 2);
    make(&t, &set, NULL);
    ck_assert_uint_eq(t.rows, 2);
    ck_assert_str_eq(t.keys[0], "baseline");
    case_table_release(&t);
    run_set_release(&set);
}
END_TEST

START_TEST(a_parameter_apart_joins_its_policies)
{
    struct run_set set = {0};
    struct case_table t;
    add(&set, "a", ONE("synth:f", "01"), "p", "{}", "{\"n\":1}", "fixed", "{\"granularity\":4096,\"k\":1}", 1);
    add(&set, "a", ONE("synth:f", "01"), "p", "{}", "{\"n\":1}", "fixed", "{\"granularity\":65536,\"k\":1}", 2);
    add(&set, "a", ONE("synth:f", "01"), "p", "{}", "{\"n\":1}", "tree", "{}", 3);
    make(&t, &set, NULL);
    ck_assert_uint_eq(t.series, 3);
    ck_assert_str_eq(t.series_labels[0], "fixed:granularity=4KiB");
    case_table_release(&t);
    make(&t, &set, "granularity");
    ck_assert_uint_eq(t.series, 2);
    ck_assert_str_eq(t.series_labels[0], "fixed");
    ck_assert_str_eq(t.apart[1], "65536");
    ck_assert_str_eq(t.apart[2], "-");
    case_table_release(&t);
    FAILS_WITH(case_table_make(&t, &set, "colour", &err), "'colour'");
    run_set_release(&set);
}
END_TEST

START_TEST(no_runs_are_an_empty_table)
{
    struct run_set set = {0};
    struct case_table t;
    make(&t, &set, NULL);
    ck_assert_uint_eq(t.rows + t.series + t.key_count, 0);
    case_table_release(&t);
}
END_TEST

TEST_MAIN("case_table")
