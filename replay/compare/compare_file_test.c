#include "replay/compare/compare_rows.h"

#include <stdlib.h>
#include <string.h>

#include "replay/results/results.h"
#include "trace/base/testing.h"

static struct err err;

static struct compare_result compared(const char *spec, const char *platform, const char *results, uint32_t draws)
{
    const struct compare_request request = {
        .spec = spec, .platform = platform, .threads = 2, .draws = draws, .results = results};
    struct compare_result result;
    bool usage;
    ck_assert_msg(compare_run(&request, &result, &usage, &err) == 0, "%s", err.msg);
    return result;
}

/* Rows as they are printed, to the last digit. */
static char *printed(const struct compare_result *result)
{
    json_t *root = compare_to_json(result, &err);
    ck_assert_ptr_nonnull(root);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
    json_decref(root);
    return text;
}

/* Where the first difference is. */
static void same(const char *found, const char *expected)
{
    size_t i = 0;
    while (found[i] && found[i] == expected[i])
        i++;
    ck_assert_msg(found[i] == expected[i], "found: %.300s\nexpected: %.300s", found + (i > 100 ? i - 100 : 0),
                  expected + (i > 100 ? i - 100 : 0));
}

/* The runs of one file whose number is a 1 in `which`, into another, as an interrupted comparison leaves them. */
struct part {
    struct results *to;
    unsigned which;
    int64_t count, put;
};

static int take(void *ctx, const struct results_run *run)
{
    struct part *p = ctx;
    struct results_run kept = *run;
    kept.position = (INT64_C(1) << 40) + run->position;
    if (p->which >> p->count++ & 1)
        p->put += results_put(p->to, &kept, 1, &err) == 0;
    return 0;
}

static int64_t part_of(const char *whole, const char *to, unsigned which)
{
    struct part part = {.to = results_open(to, RESULTS_APPEND, &err), .which = which};
    struct results *from = results_open(whole, RESULTS_READ, &err);
    ck_assert(part.to && from);
    ck_assert_int_eq(results_each(from, take, &part, &err), 0);
    results_close(from);
    results_close(part.to);
    return part.put;
}

/* Whatever stood there when it was interrupted, the answer is the same, and nothing that stood there is run again. */
static void goes_on_from_any_part(const char *spec, const char *platform)
{
    const char *whole = testing_text("%s", testing_file("whole.db"));
    (void)remove(whole);
    struct compare_result fresh = compared(spec, platform, NULL, 0), first = compared(spec, platform, whole, 0);
    char *expected = printed(&fresh), *text = printed(&first);
    same(text, expected);
    ck_assert_uint_eq(first.resumed_rows, 0);
    free(text);
    const unsigned parts[] = {1, 0x2a, 0x1c5};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p += (size_t)testing_step()) {
        const char *path = testing_file("part.db");
        (void)remove(path);
        int64_t there = part_of(whole, path, parts[p]);
        for (int again = 0; again < 2; again++) { /* then all stand there, ranked */
            struct compare_result then = compared(spec, platform, path, 0);
            text = printed(&then);
            same(text, expected);
            ck_assert_uint_le(then.resumed_rows, again ? fresh.count : (size_t)there);
            for (size_t i = 0; again && i < then.count; i++)
                ck_assert(!then.rows[i].answered || then.resumed_rows > i);
            free(text);
            compare_release(&then);
        }
    }
    free(expected);
    compare_release(&fresh);
    compare_release(&first);
}

START_TEST(an_interrupted_comparison_goes_on_to_the_same_answer)
{
    goes_on_from_any_part("synth:bfs,scale=10,roots=1", "h200");
    goes_on_from_any_part("synth:triad,bytes=4MiB", "agx");
    goes_on_from_any_part("synth:triad,bytes=4MiB", "gm200"); /* refusals */
}
END_TEST

START_TEST(found_rows_are_not_run_again)
{
    const char *path = testing_file("r.db");
    struct compare_result first = compared("synth:bfs,scale=10,roots=1", "h200", path, 0);
    struct compare_result then = compared("synth:bfs,scale=10,roots=1", "h200", path, 0);
    ck_assert_uint_eq(then.resumed_rows, first.count);
    compare_release(&then);
    /* Half of them: what stood there is found, and stays as it stood, wrong or not. */
    const char *other = testing_file("half.db");
    int64_t there = part_of(path, other, 0x55);
    then = compared("synth:bfs,scale=10,roots=1", "h200", other, 0);
    ck_assert_int_eq((int64_t)then.resumed_rows, there);
    ck_assert_uint_eq(then.count, first.count);
    compare_release(&first);
    compare_release(&then);
}
END_TEST

/* As results have it, {"robust_wins":..}; the first of that policy and with or without draws. */
struct looking {
    const char *policy;
    bool drawn;
    json_t *metrics, *params;
    int64_t runs;
};

static int look(void *ctx, const struct results_run *run)
{
    struct looking *l = ctx;
    ck_assert_str_eq(run->engine, "compare");
    l->runs++;
    if (!l->metrics && strcmp(run->policy, l->policy) == 0 && (strstr(run->settings, "robust") != NULL) == l->drawn) {
        l->metrics = json_loads(run->metrics, 0, NULL);
        l->params = json_loads(run->params, 0, NULL);
    }
    return 0;
}

START_TEST(drawn_rows_say_in_how_many_draws_they_win)
{
    const char *path = testing_file("drawn.db");
    struct compare_result got = compared("synth:bfs,scale=9,roots=1", "h200", path, 3);
    struct results *results = results_open(path, RESULTS_READ, &err);
    char name[COMPARE_NAME];
    struct looking l = {compare_row_name(&got.rows[0], name), true, NULL, NULL, 0};
    ck_assert_int_eq(results_each(results, look, &l, &err), 0);
    ck_assert_int_eq(l.runs, (int64_t)(got.count + got.drawn));
    ck_assert_int_eq(json_integer_value(json_object_get(l.metrics, "robust_draws")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(l.metrics, "robust_wins")), got.robust.wins[0]);
    ck_assert_str_eq(json_string_value(json_object_get(l.params, "mechanism")), "copy");
    ck_assert_int_eq(results_unfinished(results, &err), 0);
    json_decref(l.metrics);
    json_decref(l.params);
    results_close(results);
    compare_release(&got);
}
END_TEST

/* What a plan needs is in the file: advice, prefetches, and whether the driver is as it is. */
START_TEST(a_row_that_was_read_plans_as_one_that_was_run)
{
    const char *path = testing_file("plan.db"), *set = "oversubscription_pct=200";
    struct compare_result got[2];
    char *plans[2];
    size_t size;
    for (int i = 0; i < 2; i++) {
        const struct compare_request request = {
            .spec = "synth:bicg,bytes=4MiB", .platform = "titanv", .sets = &set, .set_count = 1, .results = path};
        bool usage;
        ck_assert_int_eq(compare_run(&request, &got[i], &usage, &err), 0);
        FILE *f = open_memstream(&plans[i], &size);
        ck_assert_int_eq(compare_plan_write(&got[i], f, &err), 0);
        (void)fclose(f);
    }
    ck_assert_uint_eq(got[1].resumed_rows, got[1].count);
    same(plans[0], plans[1]);
    uint64_t advised[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < got[k].count; i++)
            advised[k] |= got[k].rows[i].advised;
    ck_assert(advised[0] && advised[0] == advised[1]);
    for (int i = 0; i < 2; i++) {
        free(plans[i]);
        compare_release(&got[i]);
    }
}
END_TEST

START_TEST(another_number_or_input_is_another_case)
{
    const char *path = testing_file("many.db");
    struct compare_result a = compared("synth:triad,bytes=1MiB", "h200", path, 0);
    struct compare_result b = compared("synth:triad,bytes=2MiB", "h200", path, 0);
    struct compare_result c = compared("synth:triad,bytes=1MiB", "titanv", path, 0);
    ck_assert(a.resumed_rows == 0 && b.resumed_rows == 0 && c.resumed_rows == 0);
    struct results *results = results_open(path, RESULTS_READ, &err);
    ck_assert_int_eq(results_count(results, &err), (int64_t)(a.count + b.count + c.count));
    results_close(results);
    compare_release(&a);
    compare_release(&b);
    compare_release(&c);
}
END_TEST

TEST_MAIN("compare_file")
