/* The run loop with an engine of one line: time = 1000 / rate. */
#include "replay/run/engine.h"
#include "replay/run/platform_use.h"

#include "trace/base/param.h"
#include "trace/base/testing.h"

struct rate {
    int64_t rate;
};
static const struct param rate_params[] = {PARAM_INT_ROW(rate, rate, "", 1, 100, 1, "requests per ns"), {0}};
static const struct policy_head slow = {
    .name = "slow", .summary = "", .source = "", .params = rate_params, .state_size = sizeof(struct rate)};
static const struct policy_head fast = {
    .name = "fast", .summary = "", .source = "", .params = rate_params, .state_size = sizeof(struct rate)};
static const struct policy_head *const heads[] = {&slow, &fast, NULL};
struct knobs {
    int64_t scale, gpu_memory_bytes, oversubscription_pct;
};
static const struct param knobs[] = {PARAM_INT_ROW(knobs, scale, "", 1, 10, 1, "scales time"),
                                     PARAM_BYTES_ROW(knobs, gpu_memory_bytes, 0, 1e9, 0, ""),
                                     PARAM_INT_ROW(knobs, oversubscription_pct, "%", 0, 1000, 0, ""),
                                     {0}};
static const struct metric metrics[] = {{"time_ns", METRIC_INT, METRIC_SUM, ""},
                                        {"speedup_ratio", METRIC_REAL, METRIC_GEOMEAN, ""},
                                        {"h2d_bytes", METRIC_INT, METRIC_SUM, ""},
                                        {"d2h_bytes", METRIC_INT, METRIC_SUM, ""},
                                        {0}};
static int64_t moved[2];     /* that every run names, */
static double outside, most; /* of each; no speed-up is beyond */

static int run(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    (void)err;
    const struct knobs *k = job->settings;
    for (size_t i = 0; i < job->policy_count; i++) {
        const struct rate *r = job->policies[i].params;
        int64_t time = 1000 * k->scale / r->rate;
        outcome_int(&runs[i], "time_ns", time);
        outcome_int(&runs[i], "h2d_bytes", moved[0]);
        outcome_int(&runs[i], "d2h_bytes", moved[1]);
        runs[i].outside_bytes[0] = runs[i].outside_bytes[1] = outside;
        runs[i].speedup_most = most;
        if (r->rate == 50)
            outcome_interval(&runs[i], "time_ns", 10, 40);
    }
    return 0;
}

static const char *const *sections(const struct replay_job *job)
{
    static const char *const gpu[] = {"gpu", NULL}, *const link[] = {"gpu", "pcie", NULL};
    return ((const struct knobs *)job->settings)->scale == 9 ? link : gpu;
}

static const struct engine engine = {.name = "toy",
                                     .default_platform = "titanv",
                                     .default_policies = "slow,fast:rate=4",
                                     .policies = heads,
                                     .settings = knobs,
                                     .settings_size = sizeof(struct knobs),
                                     .metrics = metrics,
                                     .sections = sections,
                                     .replay = run};
static const struct input input = {.spec = "synth:toy", .role = ""};

static int go(struct replay_request *request, struct replay_result *result, struct err *err)
{
    request->engine = &engine;
    request->inputs = request->inputs ? request->inputs : &input;
    request->input_count = request->input_count ? request->input_count : 1;
    bool usage;
    return replay_run(request, result, &usage, err);
}

START_TEST(speedups_are_relative_to_the_first_policy)
{
    struct replay_request request = {0};
    struct replay_result result;
    WORKS(go(&request, &result, &err));
    ck_assert_uint_eq(result.policy_count, 2);
    ck_assert_double_eq(outcome_get(&result.runs[0], "speedup_ratio")->real, 1);
    ck_assert_double_eq(outcome_get(&result.runs[1], "speedup_ratio")->real, 4);
    replay_release(&result);
}
END_TEST

START_TEST(another_baseline_is_run_and_stands_apart)
{
    struct replay_request request = {.policy_list = "fast:rate=4", .baseline = "slow:rate=2"};
    struct replay_result result;
    WORKS(go(&request, &result, &err));
    ck_assert(result.extra_baseline);
    ck_assert_double_eq(outcome_get(&result.runs[0], "speedup_ratio")->real, 2);
    json_t *root = GIVES(replay_to_json(&result, &request, &err));
    ck_assert_uint_eq(json_array_size(json_object_get(root, "runs")), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(root, "baseline"), "policy")), "slow");
    json_decref(root);
    replay_release(&result);
}
END_TEST

START_TEST(a_listed_baseline_is_not_run_twice)
{
    struct replay_request request = {.policy_list = "slow,fast:rate=4", .baseline = "fast:rate=4"};
    struct replay_result result;
    WORKS(go(&request, &result, &err));
    ck_assert(!result.extra_baseline);
    ck_assert_double_eq(outcome_get(&result.runs[0], "speedup_ratio")->real, 0.25);
    replay_release(&result);
}
END_TEST

START_TEST(settings_reach_engine_and_platform)
{
    const char *sets[] = {"scale=3,gpu.sms=7"};
    struct replay_request request = {.sets = sets, .set_count = 1};
    struct replay_result result;
    WORKS(go(&request, &result, &err));
    ck_assert_int_eq(outcome_get(&result.runs[0], "time_ns")->whole, 3000);
    ck_assert_int_eq(*(const int64_t *)platform_section_get(result.platform, "gpu"), 7);
    replay_release(&result);
    const char *bad[] = {"colour=3"};
    request.sets = bad;
    FAILS_WITH(go(&request, &result, &err), "colour");
}
END_TEST

START_TEST(a_number_is_of_what_the_run_reads)
{
    /* A setting given later decides what is read. */
    const char *sets[] = {"round_trip_ns=7", "scale=9"};
    struct replay_request request = {.sets = sets, .set_count = 2};
    struct replay_result result;
    WORKS(go(&request, &result, &err));
    ck_assert_ptr_nonnull(json_object_get(result.overrides, "pcie.round_trip_ns"));
    replay_release(&result);
    request.set_count = 1;
    FAILS_WITH(go(&request, &result, &err), "--set: 'round_trip_ns' is a number of [pcie], which has no effect here");
    static const char *const more[] = {"pcie", NULL}; /* of a comparison, that others read */
    request.set_sections = more;
    WORKS(go(&request, &result, &err));
    replay_release(&result);
}
END_TEST

START_TEST(memory_is_said_in_one_way)
{
    struct replay_result result;
    struct err err = {""};
    for (int i = 0; i < 3; i++) {
        const char *both[] = {i == 1 ? "gpu_memory_bytes=0" : "gpu_memory_bytes=1MiB",
                              i == 2 ? "oversubscription_pct=0" : "oversubscription_pct=150"};
        struct replay_request request = {.sets = both, .set_count = 2};
        ck_assert_int_eq(go(&request, &result, &err), i == 0 ? -1 : 0);
        if (i > 0)
            replay_release(&result);
    }
    ck_assert_ptr_nonnull(strstr(err.msg, "give one of them"));
}
END_TEST

START_TEST(an_interval_of_time_is_an_interval_of_speedup)
{
    struct replay_request request = {.policy_list = "slow,fast:rate=50"};
    struct replay_result result;
    WORKS(go(&request, &result, &err));
    const struct metric_value *v = outcome_get(&result.runs[1], "speedup_ratio");
    ck_assert(v->interval);
    ck_assert_double_eq(v->lo, 25);
    ck_assert_double_eq(v->hi, 100);
    replay_release(&result);
}
END_TEST

START_TEST(a_section_in_use_that_the_platform_lacks_is_refused)
{
    const char *sets[] = {"scale=9"};
    struct replay_request request = {.platform = "tx2"};
    struct replay_result result;
    WORKS(go(&request, &result, &err)); /* [pcie] is not in use */
    replay_release(&result);
    request.sets = sets;
    request.set_count = 1;
    FAILS_WITH(go(&request, &result, &err), "platform tx2 has no [pcie]: an integrated GPU");
}
END_TEST

START_TEST(the_head_says_whose_numbers_were_used)
{
    const char *sets[] = {"scale=9,gpu.sms=7"};
    struct replay_request request = {.platform = "h100", .sets = sets, .set_count = 1};
    struct replay_result result;
    char head[512];
    WORKS(go(&request, &result, &err));
    platform_use_head(&result, head, sizeof head);
    size_t rows = 0;
    for (size_t s = 0; platform_sections[s]; s++)
        for (const struct param *row = platform_sections[s]->params; row->name; row++)
            rows += strcmp(platform_sections[s]->name, "gpu") == 0 || strcmp(platform_sections[s]->name, "pcie") == 0;
    const char *begins = testing_text("platform h100 (shipped): %zu numbers of [gpu] [pcie], ", rows);
    ck_assert_msg(strncmp(head, begins, strlen(begins)) == 0, "%s", head);
    ck_assert_ptr_nonnull(strstr(head, "borrowed, 1 given by --set"));
    ck_assert(platform_use_is_head(head) && !platform_use_is_head("platform engineers borrow"));
    const struct outcome *first = &result.runs[0];
    ck_assert_uint_eq(first->note_count, 2);
    ck_assert_str_eq(first->notes[0], head);
    ck_assert_ptr_nonnull(strstr(first->notes[1], "[pcie] is borrowed from h200; its times may be 0.95 to 1.1 times"));
    json_t *root = GIVES(replay_to_json(&result, &request, &err));
    const json_t *use = json_object_get(root, "platform_numbers");
    ck_assert_str_eq(json_string_value(json_object_get(use, "from")), "shipped");
    ck_assert_str_eq(json_string_value(json_object_get(use, "chosen")), "given");
    ck_assert_int_eq(json_integer_value(json_object_get(use, "given")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(use, "numbers")), rows);
    json_int_t sum = 0;
    static const char *const kinds[] = {"sourced", "assumed", "fitted", "as"};
    for (size_t i = 0; i < 4; i++)
        sum += json_integer_value(json_object_get(use, kinds[i]));
    ck_assert_int_eq(sum, rows);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json_object_get(use, "borrowed"), 0), "as")),
                     "h200");
    json_decref(root);
    replay_release(&result);
}
END_TEST

static struct store *recording(const char *name, const char *key, const char *gpu)
{
    struct err err = {""};
    struct store *s = store_create(testing_file(name), OUTPUT_NEW, "test", &err);
    ck_assert_msg(s && !store_origin(s, key, gpu, &err) && !store_finish(s, &err), "%s", err.msg);
    store_close(s);
    s = store_open(testing_file(name), &err);
    ck_assert_msg(s != NULL, "%s", err.msg);
    return s;
}

START_TEST(a_recording_picks_the_platform_of_its_gpu)
{
    struct input inputs[2] = {{.spec = "a.db", .role = "", .store = recording("a.db", "gpu.0.name", "NVIDIA H200")},
                              {.spec = "b.db", .role = "", .store = recording("b.db", "gpu.name.0", "TITAN V")}};
    struct replay_request request = {.inputs = inputs};
    struct replay_result result;
    char head[512];
    WORKS(go(&request, &result, &err));
    ck_assert_str_eq(result.platform->name, "h200");
    platform_use_head(&result, head, sizeof head);
    ck_assert_ptr_nonnull(strstr(head, "platform h200 (shipped, the recording's NVIDIA H200): "));
    replay_release(&result);
    request.platform = "v100"; /* what is named wins */
    WORKS(go(&request, &result, &err));
    ck_assert_str_eq(result.platform->name, "v100");
    replay_release(&result);
    request = (struct replay_request){.inputs = &inputs[1]};
    WORKS(go(&request, &result, &err));
    ck_assert_str_eq(result.platform->name, "titanv");
    replay_release(&result);
    request = (struct replay_request){.inputs = inputs, .input_count = 2};
    FAILS_WITH(go(&request, &result, &err), "the inputs are of 'NVIDIA H200' and of 'TITAN V': name a platform");
    store_close(inputs[0].store);
    store_close(inputs[1].store);
}
END_TEST

/* A stock driver's options, then a changed driver; by label. */
START_TEST(of_ties_a_stock_drivers_options_come_first)
{
    static const char *const order[] = {"tree:threshold=60", "none", "fixed:granularity=64KiB", "adaptive",
                                        "tree+random"};
    const struct engine *uvm = engine_find("uvm");
    for (size_t i = 1; i < sizeof order / sizeof *order; i++)
        ck_assert_uint_lt(engine_simplicity(uvm, order[i - 1]), engine_simplicity(uvm, order[i]));
    ck_assert_uint_ge(engine_simplicity(uvm, "nonesuch"), engine_simplicity(uvm, "markov"));
}
END_TEST

START_TEST(asked_for_is_what_the_headline_or_the_ranks_name_whole)
{
    struct engine e = {.headline = "time_ns,requests", .ranks = "+fairness,-energy_pj"};
    static const char *const yes[] = {"time_ns", "requests", "fairness", "energy_pj"};
    static const char *const no[] = {"time", "ns", "request", "requests,", "fair", "+fairness", "energy", "pj", ""};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_msg(engine_shows(&e, yes[i]), "%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_msg(!engine_shows(&e, no[i]), "%s", no[i]);
    e.ranks = NULL;
    ck_assert(engine_shows(&e, "requests") && !engine_shows(&e, "fairness"));
}
END_TEST

/* titanv, 15.75 GB/s: 1 us and 250 ns hold 15,753 and 3,938 bytes of each direction. */
START_TEST(no_time_is_below_what_its_bytes_take_on_the_link)
{
    static const struct {
        int64_t moved[2];
        double outside;
        bool known[2];
        const char *said; /* of the second run */
    } rows[] = {{{3900, 3900}, 0, {true, true}, NULL},
                {{4000, 0}, 0, {true, false}, "time_ns is only a bound"},
                {{0, 4000}, 0, {true, false}, "time_ns is only a bound"},
                {{15900, 0}, 0, {false, false}, "time_ns is only a bound"},
                {{4000, 0}, 100, {true, true}, "time_ns is the kernels' time alone"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct replay_request request = {.inputs = &input, .input_count = 1};
        struct replay_result result;
        memcpy(moved, rows[i].moved, sizeof moved);
        outside = rows[i].outside;
        WORKS(go(&request, &result, &err));
        for (int run = 0; run < 2; run++) {
            const struct metric_value *time = outcome_get(&result.runs[run], "time_ns");
            ck_assert_msg(time->known == rows[i].known[run] && time->lower_bound != time->known, "row %zu", i);
            ck_assert_int_eq(outcome_get(&result.runs[run], "speedup_ratio")->known, rows[i].known[0] && time->known);
        }
        bool said = false;
        for (size_t n = 0; rows[i].said && n < result.runs[1].note_count; n++)
            said |= strncmp(result.runs[1].notes[n], rows[i].said, strlen(rows[i].said)) == 0;
        ck_assert_msg(said == (rows[i].said != NULL), "row %zu", i);
        replay_release(&result);
    }
    moved[0] = moved[1] = 0;
    outside = 0;
}
END_TEST

START_TEST(a_speedup_beyond_what_is_possible_is_withheld)
{
    for (most = 3.9; most < 4.2; most += 0.2) {
        struct replay_request request = {.inputs = &input, .input_count = 1};
        struct replay_result result;
        WORKS(go(&request, &result, &err));
        ck_assert(outcome_get(&result.runs[1], "speedup_ratio")->known == (most > 4));
        ck_assert(outcome_get(&result.runs[1], "time_ns")->known);
        replay_release(&result);
    }
    most = 0;
}
END_TEST

TEST_MAIN("engine")
