#include "replay/results/run_diff.h"

#include <math.h>

#include "replay/results/testing_runs.h"

/* One run of a document as replay prints it; every text is JSON. */
static void add(struct run_set *set, const char *input, const char *platform, const char *numbers, const char *settings,
                const char *policy, const char *run)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "{\"engine\":\"uvm\",\"input\":\"%s\",\"platform\":\"%s\",\"settings\":%s,"
                   "\"case\":{\"engine\":\"uvm\",\"inputs\":[{\"role\":\"\",\"input\":\"%s\",\"hash\":\"h-%s\"}],"
                   "\"platform\":\"%s\",\"numbers\":%s,\"settings\":%s,\"version\":\"1\"},"
                   "\"runs\":[{\"policy\":\"%s\",\"params\":{},%s}],\"baseline\":{\"policy\":\"tree\"}}",
                   input, platform, settings, input, input, platform, numbers, settings, policy, run);
    testing_add_runs(set, "x.json", json_loads(text, 0, NULL));
}

static void simple(struct run_set *set, const char *input, const char *settings, const char *policy, int faults)
{
    const char *run = testing_text("\"metrics\":{\"faults\":%d}", faults);
    add(set, input, "p", "{}", settings, policy, run);
}

static void make(struct run_diff *diff, const struct run_set *a, const struct run_set *b)
{
    WORKS(run_diff_make(diff, a, b, &err));
}

/* "fact setting  oversubscription_pct 0 150 150 inf; metric .. " of all rows. */
static const char *text(const struct run_diff *diff)
{
    static char buf[4096];
    static const char *const whats[] = {"fact", "metric", "only"};
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        const json_t *values[] = {r->a, r->b, r->difference};
        used +=
            (size_t)snprintf(buf + used, sizeof buf - used, "%s %s[%s|%s]", whats[r->what], r->name, r->of, r->policy);
        for (int k = 0; k < 3; k++) {
            char *value = values[k] ? json_dumps(values[k], JSON_ENCODE_ANY) : NULL;
            used += (size_t)snprintf(buf + used, sizeof buf - used, " %s", value ? value : "-");
            free(value);
        }
        used += (size_t)snprintf(buf + used, sizeof buf - used, isnan(r->percent) ? ";" : " %g%%;", r->percent);
    }
    return buf;
}

static void expect(const struct run_set *a, const struct run_set *b, const char *rows, size_t pairs, size_t same)
{
    struct run_diff diff;
    make(&diff, a, b);
    ck_assert_str_eq(text(&diff), rows);
    ck_assert_uint_eq(diff.pairs, pairs);
    ck_assert_uint_eq(diff.same, same);
    run_diff_release(&diff);
}

START_TEST(what_has_one_value_is_compared_and_what_varies_is_matched_by)
{
    struct run_set a = {0}, b = {0};
    simple(&a, "bicg", "{\"pct\":0,\"front\":1}", "tree", 10);
    simple(&a, "bicg", "{\"pct\":0,\"front\":1}", "none", 20);
    simple(&b, "bicg", "{\"pct\":150,\"front\":1}", "tree", 15);
    simple(&b, "bicg", "{\"pct\":150,\"front\":1}", "adaptive", 20);
    expect(&a, &b,
           "fact pct[|] 0 150 150;metric faults[|tree] 10 15 5 50%;only run[|none] true - -;only run[|adaptive] - "
           "true -;",
           1, 0);
    /* With a second value of pct in A that is matched by, and B's 150 is alone. */
    simple(&a, "bicg", "{\"pct\":150,\"front\":1}", "tree", 15);
    expect(&a, &b, "only run[pct=0|tree] true - -;only run[pct=0|none] true - -;only run[pct=150|adaptive] - true -;",
           1, 1);
    run_set_release(&a);
    run_set_release(&b);
}
END_TEST

START_TEST(two_single_runs_are_a_pair_whatever_they_are_of)
{
    struct run_set a = {0}, b = {0};
    add(&a, "x", "p", "{\"uvm.n\":2}", "{}", "tree",
        "\"metrics\":{\"time_ns\":null,\"gone\":1},\"interval\":{\"time_ns\":[4,8]}");
    add(&b, "y", "q", "{\"uvm.n\":3}", "{\"s\":\"on\"}", "none",
        "\"metrics\":{\"time_ns\":6},\"unbound\":[\"time_ns\"]");
    expect(
        &a, &b,
        "fact input[|] \"x\" \"y\" -;fact platform[|] \"p\" \"q\" -;fact uvm.n[p|] 2 3 1 50%;fact policy[|] \"tree\" "
        "\"none\" -;fact s[|] - \"on\" -;metric time_ns[|] - 6 -;metric time_ns_lo[|] 4 - -;metric "
        "time_ns_hi[|] 8 - -;metric time_ns_unbound[|] false true -;metric gone[|] 1 - -;",
        1, 0);
    run_set_release(&a);
    run_set_release(&b);
}
END_TEST

/* Two platforms in each set: their numbers are no more what runs are matched by than the platforms' names are. */
START_TEST(numbers_are_compared_within_the_platform_of_one_name)
{
    struct run_set a = {0}, b = {0};
    add(&a, "x", "p", "{\"uvm.n\":2}", "{}", "tree", "\"metrics\":{\"m\":1}");
    add(&a, "x", "q", "{\"uvm.n\":5}", "{}", "tree", "\"metrics\":{\"m\":2}");
    add(&b, "x", "q", "{\"uvm.n\":6}", "{}", "tree", "\"metrics\":{\"m\":2}");
    add(&b, "x", "p", "{\"uvm.n\":2}", "{}", "tree", "\"metrics\":{\"m\":-1.5}");
    expect(&a, &b, "fact uvm.n[q|] 5 6 1 20%;metric m[p|tree] 1 -1.5 -2.5 -250%;", 2, 1);
    run_set_release(&a);
    run_set_release(&b);
}
END_TEST

/* Content tells inputs apart that one name stands for, and finds those that were renamed; where a run of either set
 * keeps no hash, names do. */
START_TEST(without_a_hash_inputs_are_known_by_name)
{
    static const char *const hashes[][2] = {{"h", "h"}, {"", "h"}, {"h", ""}, {"", ""}, {"h", "other"}};
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
        for (int renamed = 0; renamed < 2; renamed++) {
            struct run_set sets[2] = {{0}, {0}};
            for (int s = 0; s < 2; s++) {
                simple(&sets[s], s && renamed ? "y" : "x", "{}", "tree", 1);
                simple(&sets[s], "z", "{}", "tree", 2);
                json_t *input = json_array_get(sets[s].runs[0].run_case.inputs, 0);
                ck_assert_int_eq(json_object_set_new(input, "hash", json_string(hashes[i][s])), 0);
            }
            struct run_diff diff;
            make(&diff, &sets[0], &sets[1]);
            const bool named = !*hashes[i][0] || !*hashes[i][1];
            ck_assert_msg(diff.pairs == (size_t)(named ? 2 - renamed : 1 + !strcmp(hashes[i][0], hashes[i][1])),
                          "%zu, %d: %zu pairs", i, renamed, diff.pairs);
            run_diff_release(&diff);
            run_set_release(&sets[0]);
            run_set_release(&sets[1]);
        }
}
END_TEST

/* Of any two sets: a set has no difference from itself; turned round, every difference has the other sign; each run is
 * in a pair or alone. */
START_TEST(a_difference_turned_round_has_the_other_sign)
{
    unsigned seed = 7;
    for (int round = 0; round < 60; round++) {
        struct run_set set[2] = {{0}, {0}};
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < 12; i++) {
                const char *const policies[] = {"tree", "none", "fixed"}, *const inputs[] = {"x", "y"};
                unsigned r = (seed = seed * 1103515245u + 12345u) >> 8;
                simple(&set[s], inputs[r / 3 % 2], testing_text("{\"pct\":%u,\"t\":%d}", r % 3, round % 3 ? s : 0),
                       policies[r / 6 % 3], (int)(r / 18 % 4));
            }
        struct run_diff there, back, self;
        make(&there, &set[0], &set[1]);
        make(&back, &set[1], &set[0]);
        make(&self, &set[0], &set[0]);
        ck_assert_uint_eq(self.count, 0);
        ck_assert_uint_eq(self.same, 12);
        ck_assert(!run_diff_differs(&self) && run_diff_differs(&there) == run_diff_differs(&back));
        ck_assert_uint_eq(there.count, back.count);
        ck_assert_uint_eq(there.pairs, back.pairs);
        double sum[2] = {0, 0};
        size_t alone = 0;
        for (size_t i = 0; i < there.count; i++) {
            sum[0] += json_number_value(there.rows[i].difference);
            sum[1] += json_number_value(back.rows[i].difference);
            alone += there.rows[i].what == RUN_DIFF_ONLY;
        }
        ck_assert_double_eq(sum[0], -sum[1]);
        ck_assert_uint_eq(2 * there.pairs + alone, 24);
        run_diff_release(&there);
        run_diff_release(&back);
        run_diff_release(&self);
        run_set_release(&set[0]);
        run_set_release(&set[1]);
    }
}
END_TEST

START_TEST(another_version_alone_is_no_difference)
{
    struct run_set a = {0}, b = {0};
    simple(&a, "x", "{}", "tree", 1);
    simple(&b, "x", "{}", "tree", 1);
    free(b.runs[0].run_case.version);
    b.runs[0].run_case.version = strdup("2");
    struct run_diff diff;
    make(&diff, &a, &b);
    ck_assert_str_eq(text(&diff), "fact version[|] \"1\" \"2\" -;");
    ck_assert(!run_diff_differs(&diff));
    run_diff_release(&diff);
    run_set_release(&a);
    run_set_release(&b);
}
END_TEST

TEST_MAIN("run_diff")
