#include "replay/run/engine.h"

#include "trace/base/param.h"
#include "trace/base/testing.h"

static struct err err;

struct settings {
    int64_t scale;
};

static const struct param settings[] = {PARAM_INT_ROW(settings, scale, "", 1, 9, 1, "a factor"), {0}};

struct state {
    int64_t rate;
};

static const struct param params[] = {PARAM_INT_ROW(state, rate, "", 1, 9, 1, "a rate"), {0}};
static const struct policy_head
    slow = {.name = "slow", .summary = "", .source = "", .params = params, .state_size = sizeof(struct state)},
    fast = {.name = "fast", .summary = "", .source = "", .params = params, .state_size = sizeof(struct state)};
static const struct policy_head *const policies[] = {&slow, &fast, NULL};
static const struct metric metrics[] = {{"time_ns", METRIC_INT, METRIC_SUM, ""}, {0}};
static const struct engine engine = {.name = "toy",
                                     .default_platform = "titanv",
                                     .default_policies = "slow,fast",
                                     .policies = policies,
                                     .settings = settings,
                                     .settings_size = sizeof(struct settings),
                                     .metrics = metrics};

static struct run_case made(const char *set, const char *hash, const char *name)
{
    struct input input = {.spec = name, .role = ""};
    (void)snprintf(input.hash, sizeof input.hash, "%s", hash);
    const struct replay_request request = {
        .engine = &engine, .inputs = &input, .input_count = 1, .sets = &set, .set_count = set != NULL};
    struct replay_result result;
    struct run_case run_case;
    ck_assert_msg(replay_prepare(&request, &result, &err) == 0, "%s", err.msg);
    ck_assert_msg(replay_case(&request, &result, &run_case, &err) == 0, "%s", err.msg);
    replay_release(&result);
    return run_case;
}

static bool same(const char *set_a, const char *set_b)
{
    struct run_case a = made(set_a, "01", "x.db"), b = made(set_b, "01", "y/x.db");
    bool equal = run_case_equal(&a, &b);
    run_case_release(&a);
    run_case_release(&b);
    return equal;
}

START_TEST(numbers_count_by_their_values_however_they_are_given)
{
    ck_assert(same(NULL, NULL));
    ck_assert(!same(NULL, "gpu.sms=7"));
    ck_assert(same("sms=7", "gpu.sms=7"));
    ck_assert(same("gpu.sms=9,sms=7", "sms=8,gpu.sms=7"));
    ck_assert(!same("scale=2", NULL));
    ck_assert(same("scale=1", NULL));
}
END_TEST

START_TEST(every_number_of_the_platform_is_there)
{
    struct run_case c = made("sms=7", "01", "x.db");
    size_t n = 0;
    for (size_t s = 0; platform_sections[s]; s++)
        for (const struct param *p = platform_sections[s]->params; p->name; p++)
            n++;
    ck_assert_uint_eq(json_object_size(c.numbers), n);
    ck_assert_int_eq(json_integer_value(json_object_get(c.numbers, "gpu.sms")), 7);
    ck_assert_uint_eq(json_object_size(c.settings), 1);
    run_case_release(&c);
}
END_TEST

START_TEST(an_input_is_its_content)
{
    struct run_case a = made(NULL, "01", "x.db"), b = made(NULL, "02", "x.db"), c = made(NULL, "01", "\xff.db");
    ck_assert(!run_case_equal(&a, &b));
    ck_assert(run_case_equal(&a, &c));
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(c.inputs, 0), "input")), "?.db");
    run_case_release(&a);
    run_case_release(&b);
    run_case_release(&c);
}
END_TEST

START_TEST(a_key_knows_its_policy_and_its_baseline)
{
    const struct input input = {.spec = "x.db", .role = "", .hash = "01"};
    char key[3][RUN_CASE_HASH];
    for (int i = 0; i < 2; i++) {
        const struct replay_request request = {
            .engine = &engine, .inputs = &input, .input_count = 1, .baseline = i ? "fast" : "slow"};
        struct replay_result result;
        struct run_case c;
        ck_assert_int_eq(replay_prepare(&request, &result, &err), 0);
        ck_assert_int_eq(replay_case(&request, &result, &c, &err), 0);
        ck_assert_int_eq(replay_key(&c, &result, 0, key[i], &err), 0);
        ck_assert_int_eq(replay_key(&c, &result, 1, key[2], &err), 0);
        run_case_release(&c);
        replay_release(&result);
        ck_assert_str_ne(key[i], key[2]);
    }
    ck_assert_str_ne(key[0], key[1]);
}
END_TEST

TEST_MAIN("replay_case")
