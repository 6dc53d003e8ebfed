#include "replay/results/run_case.h"

#include "trace/base/testing.h"
#include "trace/base/version.h"

static struct err err;

static json_t *document(void)
{
    json_t *root = json_pack("{s:s,s:[{s:s,s:s,s:s},{s:s,s:s,s:s}],s:s,s:{s:i,s:f},s:{s:s},s:s}", "engine", "dram",
                             "inputs", "role", "mem", "input", "a/x.db", "hash", "01", "role", "pim", "input", "b/x.db",
                             "hash", "02", "platform", "gv100", "numbers", "dram.banks", 16, "dram.clock_hz", 8.5e8,
                             "settings", "vcs", "1", "version", offchip_version);
    ck_assert_ptr_nonnull(root);
    return root;
}

static struct run_case made(const json_t *root)
{
    struct run_case c;
    ck_assert_msg(run_case_from_json(&c, root, &err) == 0, "%s", err.msg);
    return c;
}

START_TEST(a_case_comes_back_from_json_equal)
{
    json_t *root = document();
    struct run_case c = made(root), copy;
    ck_assert_uint_eq(strlen(c.hash), 32);
    json_t *again = run_case_to_json(&c, &err);
    ck_assert(json_equal(root, again));
    struct run_case d = made(again);
    ck_assert(run_case_equal(&c, &d));
    ck_assert_int_eq(run_case_copy(&copy, &c, &err), 0);
    run_case_release(&c);
    ck_assert(run_case_equal(&copy, &d) && strcmp(copy.engine, "dram") == 0);
    run_case_release(&copy);
    run_case_release(&d);
    json_decref(again);
    json_decref(root);
}
END_TEST

/* Whether the case is still the same with another value for one of its facts. */
static bool same_with(json_t *(*pick)(json_t *root), const char *key, json_t *value)
{
    json_t *root = document(), *changed = document();
    ck_assert_int_eq(json_object_set_new(pick(changed), key, value), 0);
    struct run_case before = made(root), after = made(changed);
    bool same = run_case_equal(&before, &after);
    run_case_release(&before);
    run_case_release(&after);
    json_decref(root);
    json_decref(changed);
    return same;
}

static json_t *top(json_t *root)
{
    return root;
}

static json_t *second_input(json_t *root)
{
    return json_array_get(json_object_get(root, "inputs"), 1);
}

static json_t *numbers(json_t *root)
{
    return json_object_get(root, "numbers");
}

static json_t *settings(json_t *root)
{
    return json_object_get(root, "settings");
}

START_TEST(everything_that_decides_tells_cases_apart_and_names_do_not)
{
    ck_assert(same_with(top, "platform", json_string("another name")));
    ck_assert(same_with(second_input, "input", json_string("elsewhere/x.db")));
    ck_assert(same_with(numbers, "dram.banks", json_integer(16)));
    ck_assert(!same_with(second_input, "hash", json_string("03")));
    ck_assert(!same_with(second_input, "role", json_string("mem")));
    ck_assert(!same_with(numbers, "dram.banks", json_integer(17)));
    ck_assert(!same_with(numbers, "dram.clock_hz", json_real(8.5000000000000011e8)));
    ck_assert(!same_with(settings, "vcs", json_string("2")));
    ck_assert(!same_with(top, "engine", json_string("uvm")));
    ck_assert(!same_with(top, "version", json_string("0")));
}
END_TEST

/* Files of versions 1 and 2 have neither the numbers nor every hash: the names stand for them. */
START_TEST(names_count_where_there_is_nothing_better)
{
    json_t *root = document();
    ck_assert_int_eq(json_object_del(root, "numbers"), 0);
    ck_assert_int_eq(json_object_set_new(second_input(root), "hash", json_string("")), 0);
    struct run_case c = made(root);
    json_t *other = json_deep_copy(root);
    ck_assert_int_eq(json_object_set_new(other, "platform", json_string("h200")), 0);
    struct run_case d = made(other);
    ck_assert(!run_case_equal(&c, &d));
    run_case_release(&d);
    json_decref(other);
    ck_assert_int_eq(json_object_set_new(second_input(root), "input", json_string("c/x.db")), 0);
    d = made(root);
    ck_assert(!run_case_equal(&c, &d));
    run_case_release(&c);
    run_case_release(&d);
    json_decref(root);
}
END_TEST

START_TEST(a_key_is_of_case_policy_parameters_and_baseline)
{
    json_t *root = document(), *params = json_pack("{s:i,s:i}", "a", 1, "b", 2);
    json_t *same = json_pack("{s:i,s:i}", "b", 2, "a", 1), *base = json_pack("{s:s,s:{}}", "policy", "fcfs", "params");
    struct run_case c = made(root);
    char key[5][RUN_CASE_HASH];
    ck_assert_int_eq(run_case_key(&c, "f3fs", params, base, key[0], &err), 0);
    ck_assert_int_eq(run_case_key(&c, "f3fs", same, base, key[1], &err), 0);
    ck_assert_int_eq(run_case_key(&c, "fcfs", params, base, key[2], &err), 0);
    ck_assert_int_eq(run_case_key(&c, "f3fs", base, base, key[3], &err), 0);
    ck_assert_int_eq(run_case_key(&c, "f3fs", params, NULL, key[4], &err), 0);
    ck_assert_str_eq(key[0], key[1]);
    for (int i = 2; i < 5; i++)
        ck_assert_str_ne(key[0], key[i]);
    run_case_release(&c);
    json_decref(root);
    json_decref(params);
    json_decref(same);
    json_decref(base);
}
END_TEST

START_TEST(only_another_release_is_foreign)
{
    const struct {
        const char *version;
        bool foreign;
    } seen[] = {{offchip_version, false}, {offchip_release, false}, {"232aff8", true}, {"", true}};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        ck_assert_msg(run_case_foreign(seen[i].version) == seen[i].foreign, "'%s'", seen[i].version);
    ck_assert(run_case_foreign(testing_text("%s1", offchip_release)));
}
END_TEST

START_TEST(json_of_another_type_makes_no_case)
{
    json_t *root = document();
    ck_assert_int_eq(json_object_set_new(root, "inputs", json_string("x")), 0);
    struct run_case c;
    ck_assert_int_eq(run_case_from_json(&c, root, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "inputs"));
    json_decref(root);
}
END_TEST

TEST_MAIN("run_case")
