#include "replay/results/runs.h"

#include "replay/results/testing_runs.h"
#include "trace/base/version.h"

static void add(struct run_set *set, const char *version)
{
    testing_add_runs(set, "a.json",
                     json_pack("{s:s,s:s,s:[{s:s,s:{}}],s:{s:s,s:[{s:s,s:s}],s:s}}", "engine", "uvm", "input", "x",
                               "runs", "policy", "tree", "metrics", "case", "engine", "uvm", "inputs", "role", "",
                               "input", "x", "version", version));
}

START_TEST(a_sentence_is_noted_once)
{
    json_t *notes = json_array();
    ck_assert_int_eq(note(notes, "%d runs", 2), 0);
    ck_assert_int_eq(note(notes, "%d runs", 2), 0);
    ck_assert_int_eq(note(notes, "%d runs", 3), 0);
    ck_assert_uint_eq(json_array_size(notes), 2);
    ck_assert_str_eq(json_string_value(json_array_get(notes, 1)), "3 runs");
    ck_assert_int_eq(note(NULL, "unheard"), 0);
    json_decref(notes);
}
END_TEST

START_TEST(runs_of_another_release_are_named_with_it)
{
    struct run_set set = {0};
    json_t *notes = json_array();
    add(&set, offchip_version);
    ck_assert_int_eq(run_set_note_foreign(&set, notes), 0);
    ck_assert_uint_eq(json_array_size(notes), 0);
    add(&set, "0.0.7+abc");
    add(&set, "0.0.7+abc");
    ck_assert_int_eq(run_set_note_foreign(&set, notes), 0);
    ck_assert_uint_eq(json_array_size(notes), 1);
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_array_get(notes, 0)), "2 of 3 runs were made by offchip 0.0.7+abc"));
    json_decref(notes);
    run_set_release(&set);
}
END_TEST

TEST_MAIN("runs_note")
