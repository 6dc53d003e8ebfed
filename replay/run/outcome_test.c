#include "replay/run/outcome.h"

#include <math.h>

#include "replay/run/engine.h"
#include "trace/base/testing.h"

static const struct metric metrics[] = {
    {"faults", METRIC_INT, METRIC_SUM, "faults"}, {"speedup_ratio", METRIC_REAL, METRIC_GEOMEAN, "speed-up"}, {0}};

static void says(const struct outcome *o, const char *expected)
{
    json_t *object = json_object();
    ck_assert_int_eq(outcome_to_json(o, &object, NULL), 0);
    char *text = json_dumps(object, JSON_COMPACT);
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(object);
}

START_TEST(unknown_values_are_null_and_integers_exact)
{
    struct outcome o;
    ck_assert_int_eq(outcome_init(&o, metrics, NULL), 0);
    outcome_int(&o, "faults", 9007199254740993);
    outcome_real(&o, "speedup_ratio", NAN);
    outcome_interval(&o, "speedup_ratio", 1.25, 1.5);
    outcome_note(&o, "a bound");
    outcome_note(&o, "a bound");
    says(&o, "{\"metrics\":{\"faults\":9007199254740993,\"speedup_ratio\":null},"
             "\"interval\":{\"speedup_ratio\":[1.25,1.5]},\"notes\":[\"a bound\"]}");
    outcome_release(&o);
}
END_TEST

START_TEST(a_value_is_set_by_its_type)
{
    static const struct {
        double value;
        int64_t whole;
        bool known;
    } rows[] = {
        {2.5, 3, true}, {-2, -2, true}, {0x1p63, INT64_MAX - 1023, true}, {NAN, 0, false}, {INFINITY, 0, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o;
        ck_assert_int_eq(outcome_init(&o, metrics, NULL), 0);
        outcome_set(&o, "faults", rows[i].value);
        outcome_set(&o, "speedup_ratio", rows[i].value);
        const struct metric_value *whole = outcome_get(&o, "faults"), *real = outcome_get(&o, "speedup_ratio");
        ck_assert(whole->known == rows[i].known && real->known == rows[i].known);
        ck_assert_int_eq(whole->whole, rows[i].whole);
        ck_assert_double_eq(real->real, rows[i].known ? rows[i].value : 0);
        outcome_release(&o);
    }
}
END_TEST

START_TEST(what_is_at_least_so_much_has_no_upper_end)
{
    struct outcome o;
    ck_assert_int_eq(outcome_init(&o, metrics, NULL), 0);
    outcome_at_least(&o, "speedup_ratio", 1.25);
    ck_assert(!outcome_get(&o, "speedup_ratio")->known && !outcome_get(&o, "speedup_ratio")->interval);
    says(&o, "{\"metrics\":{\"faults\":null,\"speedup_ratio\":null},"
             "\"interval\":{\"speedup_ratio\":[1.25,null]},\"notes\":[]}");
    outcome_release(&o);
}
END_TEST

START_TEST(parts_have_the_metrics_that_are_known_of_them)
{
    struct outcome o;
    ck_assert_int_eq(outcome_init(&o, metrics, NULL), 0);
    for (int i = 0; i < 40; i++) {
        struct outcome *part = GIVES(outcome_add_part(&o, OUTCOME_BY_KERNEL, testing_text("k%d", i), NULL));
        outcome_int(part, "faults", i);
    }
    ck_assert_int_eq(outcome_get(outcome_find_part(&o, OUTCOME_BY_KERNEL, "k17"), "faults")->whole, 17);
    ck_assert_ptr_null(outcome_find_part(&o, OUTCOME_BY_ALLOCATION, "k17"));
    json_t *object = json_object();
    ck_assert_int_eq(outcome_to_json(&o, &object, NULL), 0);
    const json_t *parts = json_object_get(object, "parts");
    ck_assert_uint_eq(json_object_size(parts), 1); /* none by allocation */
    const json_t *part = json_array_get(json_object_get(parts, "kernel"), 39);
    ck_assert_str_eq(json_string_value(json_object_get(part, "part")), "k39");
    ck_assert_uint_eq(json_object_size(json_object_get(part, "metrics")), 1);
    json_decref(object);
    outcome_release(&o);
}
END_TEST

START_TEST(what_lacks_something_is_not_shown)
{
    struct outcome o;
    struct err err = {""}, first = {"out of memory"}, second = {"later"};
    json_t *object = json_object();
    ck_assert_int_eq(outcome_init(&o, metrics, NULL), 0);
    ck_assert_int_eq(outcome_check(&o, &err), 0);
    outcome_fail(&o, &first);
    outcome_fail(&o, &second);
    ck_assert_int_eq(outcome_to_json(&o, &object, &err), -1);
    ck_assert_str_eq(err.msg, "out of memory");
    json_decref(object);
    outcome_release(&o);
}
END_TEST

/* A table must not have two rows of one name, nor one that is another metric's; and a headline names metrics. */
START_TEST(every_metric_has_a_label_of_its_own)
{
    char a[80], b[80];
    ck_assert_str_eq(metric_label("time_ns", a, sizeof a), "time");
    ck_assert_str_eq(metric_label("h2d_bytes", a, sizeof a), "h2d");
    ck_assert_str_eq(metric_label("link_bytes_per_s", a, sizeof a), "link_per_s");
    ck_assert_str_eq(metric_label("edges_per_s", a, sizeof a), "edges_per_s");
    ck_assert_str_eq(metric_label("total_cycles", a, sizeof a), "total_cycles");
    ck_assert_str_eq(metric_label("_ns", a, sizeof a), "_ns");
    const struct engine *const *const lists[] = {engines, engines_results_only};
    for (size_t i = 0; i < 2; i++)
        for (const struct engine *const *e = lists[i]; *e; e++) {
            size_t asked = 0, named = 1;
            for (const char *p = (*e)->headline; (p = strchr(p, ',')); p++)
                named++;
            for (const struct metric *m = (*e)->metrics; m->name; m++) {
                asked += strstr((*e)->headline, m->name) && engine_shows(*e, m->name);
                for (const struct metric *n = (*e)->metrics; n->name; n++)
                    ck_assert_msg(
                        n == m || strcmp(metric_label(m->name, a, sizeof a), metric_label(n->name, b, sizeof b)) != 0,
                        "%s: %s and %s are both called %s", (*e)->name, m->name, n->name, a);
            }
            ck_assert_msg(asked >= named, "%s: %zu of %zu", (*e)->headline, asked, named);
        }
}
END_TEST

TEST_MAIN("outcome")
