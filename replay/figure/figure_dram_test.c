/* Every dram figure from runs of the engine itself: the script holds what was run, and what is missing is said. */
#include "replay/dram/dram_testing.h"
#include "replay/figure/figures.h"

static struct run_set set;

static void run(const char *const *specs, size_t n, const char *settings, const char *policies)
{
    struct err err = {""};
    struct replay_result result;
    struct input inputs[2] = {0};
    test_replay(&result, specs, n, settings, policies, NULL);
    for (size_t i = 0; i < n; i++) {
        inputs[i].spec = specs[i] + 4;
        inputs[i].role = specs[i][0] == 'm' ? "mem" : "pim";
    }
    const struct replay_request request = {.engine = &engine_dram, .inputs = inputs, .input_count = n};
    json_t *root = replay_to_json(&result, &request, &err);
    ck_assert_msg(root && !run_set_add_json(&set, root, "test", &err), "%s", err.msg);
    json_decref(root);
    replay_release(&result);
}

static char *script_of(const char *name, const struct figure_input *input, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(figure_find(name));
    const int rc = plot_script(figure_find(name), input, out, err);
    (void)fclose(out);
    if (!rc)
        return text;
    free(text);
    return NULL;
}

static const char *const pair[] = {"mem=synth:gpu-g2,cycles=4000", "pim=synth:pim-add,ops=40"};
static const char *const alone[] = {"pim=synth:pim-add,ops=40"};
static const char *const one[] = {"synth:llm,scale=128"};

START_TEST(figures_of_results_hold_every_policy_and_draw)
{
    static const char *const names[] = {"dram-fairness", "dram-throughput", "dram-switches", "dram-ablation",
                                        "dram-llm",      "dram-character",  "dram-pairs"};
    run(pair, 2, "vcs=1", "frfcfs,f3fs");
    run(pair, 2, "vcs=2", "frfcfs,f3fs");
    run(alone, 1, "vcs=1", "f3fs");
    run(one, 1, "vcs=1", "frfcfs,f3fs");
    const struct figure_input input = {.path = "r.json", .runs = &set};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct err err = {""};
        char *script = script_of(names[i], &input, &err), file[64];
        ck_assert_msg(script != NULL, "%s: %s", names[i], err.msg);
        ck_assert_ptr_nonnull(strstr(script, i == 5 ? "pim-add" : "frfcfs"));
        free(script);
        (void)snprintf(file, sizeof file, "%s.svg", names[i]);
        ck_assert_msg(!plot_draw(figure_find(names[i]), &input, testing_file(file), true, &err) ||
                          strstr(err.msg, "not installed"),
                      "%s", err.msg);
    }
    run_set_release(&set);
}
END_TEST

/* A line for each pair, a block for each policy: each value is that of its run. */
START_TEST(pairs_stand_side_by_side)
{
    static const char *const other[] = {"mem=synth:gpu-g2,cycles=4000", "pim=synth:pim-copy,ops=40"};
    struct err err = {""};
    const struct figure_input input = {.path = "r.json", .runs = &set};
    run(pair, 2, "vcs=1", "frfcfs,f3fs");
    run(other, 2, "vcs=1", "frfcfs,f3fs");
    char *script = script_of("dram-pairs", &input, &err);
    ck_assert_msg(script != NULL, "%s", err.msg);
    static const char *const metrics[] = {"fairness_index", "system_throughput"}, *const blocks[] = {"$f", "$t"};
    for (int m = 0; m < 2; m++)
        for (size_t p = 0; p < 2; p++) {
            char block[16];
            (void)snprintf(block, sizeof block, "%s%zu << EOD\n", blocks[m], p);
            const char *line = strstr(script, block);
            ck_assert_msg(line != NULL, "no %s", block);
            for (size_t row = 0; row < 2; row++) {
                double value, found[4];
                line = strchr(line, '\n') + 1;
                ck_assert(run_metric(&set.runs[2 * row + p], metrics[m], &value));
                ck_assert_int_eq(sscanf(line, "%lf %lf %lf %lf", &found[0], &found[1], &found[2], &found[3]), 4);
                ck_assert_double_eq_tol(found[1], value, 1e-8);
                ck_assert_double_eq_tol(found[2], value, 1e-8);
                const char *name = strstr(line, row ? "pim-copy" : "pim-add");
                ck_assert(name && name < strchr(line, '\n'));
            }
        }
    free(script);
    run_set_release(&set);
    run(alone, 1, "vcs=1", "f3fs");
    ck_assert_ptr_null(script_of("dram-pairs", &input, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "expected pairs of inputs"));
    run_set_release(&set);
}
END_TEST

/* The line of a policy in the first block of bars: value, lower and upper end. */
static void bar_of(const char *script, const char *policy, double bar[3])
{
    double at;
    char name[32];
    const char *line = strstr(script, "$p0 << EOD\n");
    ck_assert_ptr_nonnull(line);
    (void)snprintf(name, sizeof name, "\"%s\"", policy);
    do {
        line = strchr(line, '\n') + 1;
        ck_assert_msg(sscanf(line, "%lf %lf %lf %lf", &at, &bar[0], &bar[1], &bar[2]) == 4, "no %s", policy);
    } while (strstr(line, name) == NULL || strstr(line, name) > strchr(line, '\n'));
}

/* A side that starved had at most the speed-up of ending when the run was stopped: alone / stopped; over the other's
 * speed-up, and 1 where that is not known, or more. Who did not starve is a point. */
START_TEST(a_starved_run_is_a_line_up_to_what_its_fairness_is_at_most)
{
    static const struct {
        double alone, stopped, other, most;
    } rows[] = {{100, 1000, 0.5, 0.2}, {100, 1000, 0.05, 1}, {100, 1000, 0, 1}, {100, 0, 0.5, 1}, {0, 1000, 0.5, 0}};
    static const char *const sides[] = {"mem", "pim"};
    double fair;
    run(pair, 2, "vcs=1", "frfcfs,f3fs");
    ck_assert(run_metric(&set.runs[1], "fairness_index", &fair) && fair > 0);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct err err = {""};
        const struct figure_input input = {.path = "r.json", .runs = &set};
        const char *side = sides[i % 2], *other = sides[!(i % 2)];
        double bar[3];
        char key[64];
        json_t *m = set.runs[0].metrics;
        (void)json_object_set_new(m, "fairness_index", json_real(0));
        (void)json_object_set_new(m, "total_cycles", json_real(rows[i / 2].stopped));
        (void)snprintf(key, sizeof key, "%s_speedup_ratio", side);
        (void)json_object_set_new(m, key, json_null());
        (void)snprintf(key, sizeof key, "%s_speedup_ratio", other);
        (void)json_object_set_new(m, key, json_real(rows[i / 2].other));
        (void)snprintf(key, sizeof key, "%s_alone_cycles", side);
        (void)json_object_set_new(m, key, json_real(rows[i / 2].alone));
        char *script = script_of("dram-fairness", &input, &err);
        ck_assert_msg(script != NULL, "%s", err.msg);
        bar_of(script, "frfcfs", bar);
        ck_assert(bar[0] == 0 && bar[1] == 0);
        ck_assert_double_eq_tol(bar[2], rows[i / 2].most, 1e-8);
        bar_of(script, "f3fs", bar);
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(bar[k], fair, 1e-6 * fair);
        free(script);
    }
    run_set_release(&set);
}
END_TEST

START_TEST(sensitivity_needs_something_that_differs)
{
    struct err err = {""};
    const struct figure_input input = {.path = "r.json", .runs = &set};
    run(pair, 2, "vcs=1", "frfcfs,frfcfs-cap"); /* one has no cap, which is no other value of it */
    ck_assert_ptr_null(script_of("dram-sensitivity", &input, &err));
    run_set_release(&set);
    run(pair, 2, "vcs=1", "f3fs");
    ck_assert_ptr_null(script_of("dram-sensitivity", &input, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "differ in no cap"));
    run(pair, 2, "vcs=1", "f3fs:mem_cap=64");
    char *script = script_of("dram-sensitivity", &input, &err);
    ck_assert_msg(script && strstr(script, "\n64 ") && strstr(script, "\n256 "), "%s", err.msg);
    free(script);
    run_set_release(&set);
}
END_TEST

START_TEST(results_of_another_engine_are_refused)
{
    struct err err = {""};
    const struct run_set none = {0};
    const struct figure_input input = {.path = "r.json", .runs = &none};
    ck_assert_ptr_null(script_of("dram-fairness", &input, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "no run of the dram engine"));
}
END_TEST

START_TEST(the_timeline_is_drawn_from_a_trace)
{
    struct err err = {""};
    struct store *store = store_open(test_import("fixtures/dram/x01_lowmem_lowpim.csv.xz", "t.offchip"), &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    const struct figure_input input = {.path = "t.offchip", .store = store};
    char *script = script_of("dram-timeline", &input, &err);
    ck_assert_msg(script && strstr(script, "PIM mode"), "%s", err.msg);
    free(script);
    store_close(store);
}
END_TEST

TEST_MAIN("figure_dram", a_starved_run_is_a_line_up_to_what_its_fairness_is_at_most,
          figures_of_results_hold_every_policy_and_draw, pairs_stand_side_by_side,
          sensitivity_needs_something_that_differs, results_of_another_engine_are_refused,
          the_timeline_is_drawn_from_a_trace)
