/* Figures of results: which runs stand where, under which name, by which unit. */
#include "replay/report/figure_form.h"

#include "replay/results/testing_runs.h"

/* What a figure writes of these runs; freed by the caller. NULL with *err set if it refuses. */
static char *script_of(const char *name, const struct figure_input *input, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int rc = plot_script(figure_find(name), input, out, err);
    (void)fclose(out);
    if (!rc)
        return text;
    free(text);
    return NULL;
}

static void load(struct run_set *set, const char *text)
{
    testing_add_runs(set, "test", json_loads(text, 0, NULL));
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(text && strstr(text, part), "no %s in\n%s", part, text ? text : "");
}

/* Draw, and return the script. */
static char *drawn(const char *name, const struct figure_input *input)
{
    struct err err = {""};
    char *script = script_of(name, input, &err);
    ck_assert_msg(script != NULL, "%s: %s", name, err.msg);
    int rc = plot_draw(figure_find(name), input, testing_file("form.png"), true, &err);
    ck_assert_msg(rc == 0 || strstr(err.msg, "not installed"), "%s", err.msg);
    return script;
}

static bool noted(const json_t *notes, const char *part)
{
    size_t i;
    json_t *text;
    bool found = false;
    json_array_foreach(notes, i, text) found |= strstr(json_string_value(text), part) != NULL;
    return found;
}

static const char uvm[] =
    "{\"schema\":1,\"engine\":\"uvm\",\"input\":\"synth:bicg,bytes=1GiB\",\"platform\":\"titanv\",\"runs\":["
    "{\"policy\":\"tree\",\"params\":{\"threshold\":51},\"metrics\":{\"time_ns\":1000,\"speedup_ratio\":1,\"blocks_per_"
    "batch_p25\":0."
    "3,\"blocks_per_batch_median\":0.4,\"blocks_per_batch_p75\":27},\"interval\":{},\"notes\":[]},"
    "{\"policy\":\"fixed\",\"params\":{\"granularity\":\"4KiB\"},\"metrics\":{\"time_ns\":500,\"speedup_ratio\":2,"
    "\"blocks_per_batch_p25\":0.2,\"blocks_per_batch_median\":0.25,\"blocks_per_batch_p75\":0.5},\"interval\":{},"
    "\"notes\":[]},"
    "{\"policy\":\"fixed\",\"params\":{\"granularity\":\"2MiB\"},\"metrics\":{\"time_ns\":null,\"speedup_ratio\":null},"
    "\"interval\":{\"time_ns\":[500,2000],\"speedup_ratio\":[0.5,2]},\"notes\":[]}],"
    "\"baseline\":{\"policy\":\"tree\",\"params\":{\"threshold\":51}}}";

/* Worked: without a metric it is the first that the engine ranks by; times are in us. */
START_TEST(bars_are_the_engines_first_rank)
{
    struct run_set set = {0};
    load(&set, uvm);
    char *script = drawn("bars", &(struct figure_input){.path = "r.json", .runs = &set});
    has(script, "$a0 << EOD\n0 1 1 1 \"tree\"\n1 0.5 0.5 0.5 \"fixed:granularity=4KiB\"\n");
    has(script, "2 1.25 0.5 2 \"fixed:granularity=2MiB\"\n");
    has(script, "set key off");
    has(script, ".\" (us)\"");
    free(script);
    run_set_release(&set);
}
END_TEST

/* The baseline is the line; what is between 0.5 and 2 stands at 1, their geometric middle. */
START_TEST(speed_ups_stand_on_the_line_of_their_baseline)
{
    struct run_set set = {0};
    json_t *notes = json_array();
    load(&set, uvm);
    char *script = drawn(
        "bars", &(struct figure_input){.path = "r.json", .runs = &set, .metrics = "speedup_ratio", .notes = notes});
    has(script, "2 1 0.5 2 \"fixed:granularity=2MiB\"\n");
    has(script, "yerrorbars");
    has(script, "set logscale y\n");
    has(script, "set ytics (0.5, 0.6, 0.8, 1, 1.5, 2)\n");
    has(script, "\"speed-up over \".\"tree\"");
    ck_assert_ptr_null(strstr(script, "\"tree\"\n"));
    ck_assert(!noted(notes, "not drawn"));
    free(script);
    json_decref(notes);
    run_set_release(&set);
}
END_TEST

START_TEST(boxes_reach_from_quartile_to_quartile)
{
    struct run_set set = {0};
    struct err err = {""};
    load(&set, uvm);
    char *script = drawn("box", &(struct figure_input){.path = "r.json", .runs = &set});
    has(script, "0 0.4 0.3 27 \"tree\"\n1 0.25 0.2 0.5 \"fixed:granularity=4KiB\"\n");
    has(script, " n/a}\" at 2,");
    free(script);
    const struct figure_input other = {.path = "r.json", .runs = &set, .metrics = "time_ns"};
    ck_assert_ptr_null(script_of("box", &other, &err));
    has(err.msg, "needs a median");
    run_set_release(&set);
}
END_TEST

/* Values of a policy's parameter stand as they were given. */
START_TEST(lines_go_over_a_parameter)
{
    struct run_set set = {0};
    json_t *notes = json_array();
    load(&set, uvm);
    char *script = drawn(
        "lines", &(struct figure_input){
                     .path = "r.json", .runs = &set, .metrics = "time_ns", .over = "granularity", .notes = notes});
    has(script, " << EOD\n4096 0.5 0.5 0.5\n2097152 1.25 0.5 2\nEOD\n");
    has(script, "\"2MiB\" 2097152)");
    has(script, "set logscale x");
    ck_assert(noted(notes, "1 of 3 runs are not drawn: they have no number on this axis"));
    free(script);
    json_decref(notes);
    run_set_release(&set);
}
END_TEST

START_TEST(the_setting_that_varies_most_is_the_axis)
{
    struct run_set set = {0};
    struct err err = {""};
    struct figure_input input = {.path = "r.json", .runs = &set, .metrics = "speedup_ratio"};
    for (int i = 0; i < 3; i++) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "{\"engine\":\"uvm\",\"input\":\"synth:nw\",\"settings\":{\"oversubscription_pct\":%d,"
                       "\"service_ns\":%d},\"runs\":[{\"policy\":\"fixed\",\"params\":{},\"metrics\":"
                       "{\"speedup_ratio\":%d}}]}",
                       125 + i / 2, 4000 + i * 1000, i + 1);
        load(&set, text);
        if (i == 0) {
            ck_assert_ptr_null(script_of("lines", &input, &err));
            has(err.msg, "no setting differs");
        }
    }
    char *script = drawn("lines", &input);
    has(script, "\"service\\\\_ns\"");
    has(script, "\"nw 125 %\"");
    has(script, "4000 1 1 1\n5000 2 2 2\n");
    free(script);
    run_set_release(&set);
}
END_TEST

static void add_pair(struct run_set *set, const char *mem, int vcs, const char *policy, double fair)
{
    char text[700];
    (void)snprintf(
        text, sizeof text,
        "{\"schema\":1,\"engine\":\"dram\",\"platform\":\"gv100\",\"settings\":{\"vcs\":%d},\"case\":{\"engine\":"
        "\"dram\",\"inputs\":[{\"role\":\"mem\",\"input\":\"synth:%s\"},{\"role\":\"pim\",\"input\":"
        "\"synth:pim-add\"}],\"platform\":\"gv100\",\"numbers\":{},\"settings\":{\"vcs\":%d},\"version\":"
        "\"1\"},\"runs\":[{"
        "\"policy\":\"%s\",\"params\":{},\"metrics\":{\"fairness_index\":%g,\"mode_switches\":%g,"
        "\"mem_speedup_ratio\":%g,\"pim_speedup_ratio\":%g}}]}",
        vcs, mem, vcs, policy, fair, 1e7 * fair, fair / 4, fair / 2);
    load(set, text);
}

static void load_pairs(struct run_set *set)
{
    for (int vcs = 1; vcs <= 2; vcs++) {
        add_pair(set, "gpu-g1", vcs, "fcfs", 0.1 * vcs);
        add_pair(set, "gpu-g2", vcs, "fcfs", 0.4 * vcs);
        add_pair(set, "gpu-g1", vcs, "f3fs", 0.5);
        add_pair(set, "gpu-g2", vcs, "f3fs", 0.5);
    }
}

/* Worked: fairness has a geometric mean, of 0.1 and 0.4 it is 0.2. */
START_TEST(bars_of_a_key_stand_side_by_side_over_all_inputs)
{
    struct run_set set = {0};
    load_pairs(&set);
    const struct figure_input input = {
        .path = "d", .runs = &set, .metrics = "fairness_index", .over = "vcs", .aggregate = 1};
    char *script = drawn("bars", &input);
    has(script, "$a0 << EOD\n-0.2 0.2 0.2 0.2 \"fcfs\"\n0.8 0.5 0.5 0.5 \"f3fs\"\nEOD\n");
    has(script, "$a1 << EOD\n0.2 0.4 0.4 0.4 \"fcfs\"\n");
    has(script, "title \"vcs=2\"");
    has(script, "geomean over 2 inputs");
    free(script);
    run_set_release(&set);
}
END_TEST

/* Worked: 2 and 8 at 4 MiB have the geometric mean 4, 3 and 27 at 8 MiB have 9. */
START_TEST(the_axis_may_be_a_key_of_the_inputs_that_are_combined)
{
    static const struct {
        const char *input;
        int speedup;
    } runs[] = {{"bicg,bytes=4MiB", 2}, {"nw,bytes=4MiB", 8}, {"bicg,bytes=4MiB,bytes=8MiB", 3}, {"nw,bytes=8MiB", 27}};
    struct run_set set = {0};
    char text[1000];
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"schema\":1,\"engine\":\"uvm\",\"input\":\"synth:%s\",\"platform\":\"titanv\",\"runs\":[{"
                       "\"policy\":\"tree\",\"params\":{},\"metrics\":{\"time_ns\":1000},\"interval\":{},\"notes\":[]},"
                       "{\"policy\":\"none\",\"params\":{},\"metrics\":{\"speedup_ratio\":%d},\"interval\":{},"
                       "\"notes\":[]}],\"baseline\":{\"policy\":\"tree\",\"params\":{}}}",
                       runs[i].input, runs[i].speedup);
        load(&set, text);
    }
    const struct figure_input input = {
        .path = "d", .runs = &set, .metrics = "speedup_ratio", .over = "bytes", .aggregate = 1};
    char *script = drawn("lines", &input);
    has(script, "4194304 4 4 4\n8388608 9 9 9\n");
    free(script);
    run_set_release(&set);
}
END_TEST

/* Several metrics: a plot each, or on each other, or as parts of their sum. */
START_TEST(several_metrics_stand_under_or_on_each_other)
{
    struct run_set set = {0};
    load_pairs(&set);
    const struct figure_input input = {.path = "d", .runs = &set, .metrics = "mem_speedup_ratio,pim_speedup_ratio"};
    char *script = drawn("bars", &input);
    has(script, "$a0 << EOD\n");
    has(script, "$b1 << EOD\n");
    free(script);
    script = drawn("stacked", &input);
    has(script, "$a1 << EOD\n0 0.05 0.025 0.075 \"fcfs, ");
    free(script);
    script = drawn("shares", &input);
    has(script, "$a0 << EOD\n0 0.333333333 0 0.333333333 \"fcfs, ");
    free(script);
    const struct figure_input one = {.path = "d", .runs = &set, .metrics = "mem_speedup_ratio"};
    FAILS_WITH(plot_script(figure_find("shares"), &one, stderr, &err), "one metric has no parts");
    run_set_release(&set);
}
END_TEST

START_TEST(what_cannot_be_drawn_is_refused_with_the_reason)
{
    struct run_set set = {0};
    struct err err = {""};
    struct figure_input input = {.path = "d", .runs = &set};
    ck_assert_ptr_null(script_of("bars", &input, &err));
    has(err.msg, "hold no run");
    load_pairs(&set);
    input.metrics = "fairness_indx";
    ck_assert_ptr_null(script_of("bars", &input, &err));
    has(err.msg, "did you mean 'fairness_index'");
    input.metrics = "total_cycles";
    ck_assert_ptr_null(script_of("bars", &input, &err));
    has(err.msg, "no run of the dram engine has total_cycles");
    input.metrics = "fairness_index";
    for (int i = 0; i < 41; i++) {
        add_pair(&set, testing_text("gpu-g%d", 3 + i), 1, "fcfs", 0.3);
    }
    ck_assert_ptr_null(script_of("bars", &input, &err));
    has(err.msg, "--aggregate combines inputs");
    input.over = "vcs";
    ck_assert_ptr_null(script_of("lines", &input, &err));
    has(err.msg, "lines could not be told apart");
    input.aggregate = 1;
    free(drawn("lines", &input));
    run_set_release(&set);
}
END_TEST

TEST_MAIN("form")
