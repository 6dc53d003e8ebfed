#include "replay/report/report.h"

#include <math.h>

#include "replay/results/testing_runs.h"
#include "replay/run/engine.h"
#include "replay/run/measured.h"

static void add(struct run_set *set, const char *workload, int pct, const char *policy, int granularity, double time)
{
    testing_add_runs(set, "test",
                     json_pack("{s:s,s:s,s:s,s:{s:i},s:[{s:s,s:{s:i},s:{s:f,s:f}}]}", "engine", "uvm", "input",
                               workload, "platform", "titanv", "settings", "pct", pct, "runs", "policy", policy,
                               "params", "granularity", granularity, "metrics", "time_ns", time, "speedup_ratio",
                               100 / time));
}

static void fill(struct run_set *set)
{
    for (int pct = 0; pct <= 150; pct += 150) {
        add(set, "synth:bicg,bytes=1GiB", pct, "tree", 0, 100);
        add(set, "synth:bicg,bytes=1GiB", pct, "fixed", 4096, pct ? 50 : 200);
        add(set, "synth:bicg,bytes=1GiB", pct, "fixed", 65536, pct ? 400 : 25);
    }
}

START_TEST(the_best_fixed_is_added_for_each_setting)
{
    struct run_set set = {0};
    struct report report;
    fill(&set);
    struct report_options how = {.metrics = "time_ns"};
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_uint_eq(report.rows, 8);
    ck_assert_uint_eq(report.columns, 3);
    ck_assert_str_eq(report.header[0], "pct");
    ck_assert_str_eq(report.cells[6 * 3 + 1].text, "best fixed:granularity=64KiB");
    ck_assert_double_eq(report.cells[6 * 3 + 2].value.real, 25);
    ck_assert_double_eq(report.cells[7 * 3 + 2].value.real, 50);
    ck_assert_str_eq(report.cells[1 * 3 + 1].text, "fixed:granularity=4KiB");
    report_release(&report);
    run_set_release(&set);
}
END_TEST

/* The property decides, not the name. */
START_TEST(none_counts_as_fixed_and_adaptive_does_not)
{
    struct run_set set = {0};
    struct report report;
    add(&set, "synth:bicg", 0, "tree", 0, 100);
    add(&set, "synth:bicg", 0, "adaptive", 0, 10);
    add(&set, "synth:bicg", 0, "none", 0, 20);
    add(&set, "synth:bicg", 0, "fixed", 65536, 25);
    struct report_options how = {.metrics = "time_ns"};
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_uint_eq(report.rows, 5);
    const struct report_cell *best = &report.cells[4 * report.columns];
    ck_assert_int_eq(strncmp(best[report.columns - 2].text, "best none", 9), 0);
    ck_assert_double_eq(best[report.columns - 1].value.real, 20);
    report_release(&report);
    run_set_release(&set);
}
END_TEST

START_TEST(a_pivot_has_a_column_for_each_value_and_an_aggregate)
{
    struct run_set set = {0};
    struct report report;
    fill(&set);
    struct report_options how = {.pivot = "pct", .aggregate = AGGREGATE_GEOMEAN, .no_best = true};
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_uint_eq(report.columns, 3);
    ck_assert_uint_eq(report.rows, 3); /* one case: nothing to combine without mixing policies */
    ck_assert_str_eq(report.header[1], "0");
    ck_assert_str_eq(report.header[2], "150");
    report_release(&report);
    how.pivot = "policy";
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_uint_eq(report.columns, 4);
    ck_assert_uint_eq(report.rows, 3);
    ck_assert_str_eq(report.cells[2 * 4].text, "geomean");
    ck_assert_double_eq_tol(report.cells[2 * 4 + 2].value.real, sqrt(0.5 * 2), 1e-12); /* of fixed:granularity=4KiB */
    report_release(&report);
    how.pivot = "colour";
    FAILS_WITH(report_make(&report, &set, &how, &err), "colour");
    how.pivot = NULL;
    how.metrics = "loudness";
    FAILS(report_make(&report, &set, &how, &err));
    run_set_release(&set);
}
END_TEST

/* By default the headline and how many metrics are left out; of all each one that a run has, in the engine's order. */
START_TEST(all_metrics_stand_in_the_order_of_their_engine)
{
    struct run_set set = {0};
    struct report report;
    testing_add_runs(&set, "test",
                     json_pack("{s:s,s:s,s:s,s:{},s:[{s:s,s:{},s:{s:i,s:n,s:i,s:f,s:i,s:i}}]}", "engine", "uvm",
                               "input", "x", "platform", "titanv", "settings", "runs", "policy", "tree", "params",
                               "metrics", "zz_of_another_release", 1, "fault_handler_runs", "services", 7,
                               "speedup_ratio", 1.0, "time_ns", 5, "faults", 3));
    struct report_options how = {.metrics = "faults", .no_best = true};
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_uint_eq(report.more, 0); /* what was asked for is there */
    report_release(&report);
    how = (struct report_options){.all = true, .no_best = true};
    WORKS(report_make(&report, &set, &how, &err));
    static const char *const names[] = {
        "policy", "time_ns", "speedup_ratio", "faults", "fault_handler_runs", "services", "zz_of_another_release"};
    ck_assert_uint_eq(report.columns, 7);
    for (size_t c = 0; c < 7; c++)
        ck_assert_str_eq(report.header[c], names[c]);
    ck_assert_uint_eq(report.more, 0);
    report_release(&report);
    run_set_release(&set);
}
END_TEST

/* One more case under three policies. */
static void add_case(struct run_set *set, const char *input, double tree, double none, double fixed)
{
    testing_add_runs(set, "test",
                     json_pack("{s:s,s:s,s:s,s:{},s:[{s:s,s:{},s:{s:f}},{s:s,s:{},s:{s:f}},{s:s,s:{},s:{s:f}}]}",
                               "engine", "uvm", "input", input, "platform", "titanv", "settings", "runs", /* */
                               "policy", "tree", "params", "metrics", "time_ns", tree,                    /* */
                               "policy", "none", "params", "metrics", "time_ns", none,                    /* */
                               "policy", "fixed", "params", "metrics", "time_ns", fixed));
}

/* Worked: tree and none tie in both cases; then with fixed, within the errors; then tree alone wins one. */
START_TEST(the_same_few_may_be_the_best_of_every_case)
{
    struct run_set set = {0};
    struct report report;
    const struct report_options how = {.metrics = "time_ns", .pivot = "policy"};
    add_case(&set, "a", 10, 10, 30);
    add_case(&set, "b", 20, 20, 50);
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_str_eq(report.answer, "tree and none are the fastest in every case, the same.");
    report_release(&report);
    add_case(&set, "c", 10, 10.01, 10.02);
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_str_eq(report.answer, "tree and none are the fastest in every case, the same within the models' errors; "
                                    "in some others too.");
    report_release(&report);
    add_case(&set, "d", 10, 30, 50);
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_ptr_nonnull(strstr(report.answer, "No policy is best in every case"));
    report_release(&report);
    run_set_release(&set);
}
END_TEST

START_TEST(policies_rank_by_what_their_engine_says)
{
    struct run_set set = {0};
    struct report report;
    struct err err = {""};
    json_t *root =
        json_pack("{s:s,s:s,s:s,s:{},s:[{s:s,s:{},s:{s:f,s:f}},{s:s,s:{},s:{s:f,s:f}},{s:s,s:{},s:{s:f,s:n}}]}",
                  "engine", "dram", "input", "x", "platform", "gv100", "settings", "runs",         /* */
                  "policy", "fcfs", "params", "metrics", "time_ns", 1.0, "system_throughput", 0.5, /* */
                  "policy", "f3fs", "params", "metrics", "time_ns", 3.0, "system_throughput", 1.5, /* */
                  "policy", "mem-first", "params", "metrics", "time_ns", 0.5, "system_throughput");
    ck_assert_msg(root && run_set_add_json(&set, root, "test", &err) == 0, "%s", err.msg);
    json_t *alone = json_deep_copy(root);
    json_decref(root);
    json_object_set_new(alone, "input", json_string("alone"));
    for (size_t i = 0; i < 3; i++) {
        json_t *run = json_array_get(json_object_get(alone, "runs"), i);
        json_object_set_new(json_object_get(run, "metrics"), "system_throughput", json_null());
    }
    ck_assert_int_eq(run_set_add_json(&set, alone, "test", &err), 0);
    json_decref(alone);
    static const char *const asked[] = {"time_ns,system_throughput", "time_ns", "system_throughput"};
    for (size_t a = 0; a < 3; a++) {
        struct report_options how = {.metrics = asked[a]};
        ck_assert_msg(report_make(&report, &set, &how, &err) == 0, "%s", err.msg);
        ck_assert_uint_eq(report.rows, 6);
        const bool best[] = {false, a == 2, a != 2, /* throughput unknown to all: by time */ false, false, true};
        for (size_t r = 0; r < 6; r++)
            ck_assert_msg(report.cells[r * report.columns + 1].mark.best == best[r], "row %zu", r);
        report_release(&report);
    }
    char name[64];
    bool more;
    ck_assert(engine_rank(engine_find("dram"), 1, name, sizeof name, &more) && more);
    ck_assert_str_eq(name, "fairness_index");
    ck_assert(!engine_rank(engine_find("dram"), 3, name, sizeof name, &more));
    run_set_release(&set);
}
END_TEST

/* Two kernels and their sums, under two policies. */
static void fill_parts(struct run_set *set)
{
    static const char *const text =
        "{\"engine\":\"uvm\",\"input\":\"synth:x\",\"platform\":\"titanv\",\"settings\":{},\"runs\":["
        "{\"policy\":\"tree\",\"params\":{},\"metrics\":{\"time_ns\":30,\"faults\":5,\"speedup_ratio\":1.0},"
        "\"parts\":{\"kernel\":["
        "{\"part\":\"a\",\"metrics\":{\"time_ns\":10,\"faults\":2,\"speedup_ratio\":1.0},\"interval\":{}},"
        "{\"part\":\"b\",\"metrics\":{\"time_ns\":20,\"faults\":3,\"speedup_ratio\":1.0},\"interval\":{},"
        "\"unbound\":[\"faults\"]}]}},"
        "{\"policy\":\"none\",\"params\":{},\"metrics\":{\"time_ns\":35,\"faults\":9,\"speedup_ratio\":0.86},"
        "\"parts\":{\"kernel\":["
        "{\"part\":\"a\",\"metrics\":{\"time_ns\":5,\"faults\":8},\"interval\":{\"batches\":[1,2]}},"
        "{\"part\":\"b\",\"metrics\":{\"time_ns\":30,\"faults\":1},\"interval\":{}}]}}]}";
    testing_add_runs(set, "test", json_loads(text, 0, NULL));
}

START_TEST(a_run_by_kernel_has_a_row_for_each_with_the_metrics_it_has)
{
    struct run_set set = {0};
    struct report report;
    fill_parts(&set);
    const struct report_options how = {.by = "kernel"};
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_uint_eq(report.rows, 4);
    static const char *const header[] = {"kernel", "policy", "time_ns", "speedup_ratio", "faults", "batches"};
    ck_assert_uint_eq(report.columns, 6); /* of the headline, what some part has */
    for (size_t i = 0; i < 6; i++)
        ck_assert_str_eq(report.header[i], header[i]);
    ck_assert_str_eq(report.cells[2 * 6].text, "a");
    ck_assert_int_eq(report.cells[2 * 6 + 2].value.whole, 5);
    ck_assert(report.cells[2 * 6 + 1].mark.best); /* of kernel a, though the run is slower */
    ck_assert(!report.cells[0 * 6 + 1].mark.best);
    ck_assert(report.cells[1 * 6 + 1].mark.best);
    ck_assert(report.cells[2 * 6 + 5].value.interval);
    ck_assert(!report.cells[0 * 6 + 4].value.unbound && report.cells[1 * 6 + 4].value.unbound); /* faults of b, tree */
    report_release(&report);
    run_set_release(&set);
    fill_parts(&set);
    const struct report_options none = {.by = "allocation"};
    FAILS_WITH(report_make(&report, &set, &none, &err), "allocation");
    run_set_release(&set);
}
END_TEST

/* All pairs of two GPU kernels and two PIM kernels: fairness 0.1 and 0.4, 0.2 and 0.8. */
START_TEST(by_gpu_kernel_the_pim_kernels_are_aggregated_as_declared)
{
    struct run_set set = {0};
    struct report report;
    static const double fairness[2][2] = {{0.1, 0.4}, {0.2, 0.8}};
    for (int m = 0; m < 2; m++)
        for (int p = 0; p < 2; p++) {
            const char *input = testing_text("mem=synth:g%d,x=1 + pim=synth:p%d", m, p);
            testing_add_runs(&set, "test",
                             json_pack("{s:s,s:s,s:s,s:{},s:[{s:s,s:{},s:{s:f,s:i}}]}", "engine", "dram", "input",
                                       input, "platform", "gv100", "settings", "runs", "policy", "fcfs", "params",
                                       "metrics", "fairness_index", fairness[m][p], "mem_requests", 10 + p));
        }
    const struct report_options how = {.by = "mem", .metrics = "fairness_index,mem_requests"};
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_uint_eq(report.rows, 2);
    ck_assert_uint_eq(report.columns, 4);
    ck_assert_str_eq(report.header[0], "mem");
    ck_assert_str_eq(report.cells[0].text, "synth:g0,x=1");
    ck_assert_double_eq_tol(report.cells[2].value.real, 0.2, 1e-12); /* sqrt(0.1 x 0.4) */
    ck_assert_double_eq_tol(report.cells[4 + 2].value.real, 0.4, 1e-12);
    ck_assert_int_eq(report.cells[3].value.whole, 21); /* requests are summed */
    report_release(&report);
    run_set_release(&set);
}
END_TEST

/* As the runs noted it, each line once; by name where a release before this noted nothing. */
START_TEST(each_platform_is_said_once)
{
    static const char head[] =
        "platform h200 (shipped): 27 numbers of [uvm], 9 known, 2 assumed, 15 fitted, 1 borrowed";
    struct run_set set = {0};
    fill(&set);
    for (int i = 0; i < 2; i++) {
        testing_add_runs(&set, "test",
                         json_pack("{s:s,s:s,s:s,s:[{s:s,s:{},s:{s:f},s:[s,s]}]}", "engine", "uvm", "input",
                                   i ? "a" : "b", "platform", "h200", "runs", "policy", "tree", "params", "metrics",
                                   "time_ns", 5.0, "notes", "a note", head));
    }
    json_t *lines = json_array();
    ck_assert_int_eq(report_platforms(&set, lines), 0);
    ck_assert_uint_eq(json_array_size(lines), 2);
    ck_assert_str_eq(json_string_value(json_array_get(lines, 0)), "platform titanv");
    ck_assert_str_eq(json_string_value(json_array_get(lines, 1)), head);
    json_decref(lines);
    run_set_release(&set);
}
END_TEST

START_TEST(a_metric_of_an_earlier_release_is_reported_and_one_that_is_gone_is_unknown)
{
    struct run_set set = {0};
    struct report report;
    testing_add_runs(&set, "test",
                     json_pack("{s:s,s:s,s:s,s:{},s:[{s:s,s:{},s:{s:f,s:i}}]}", "engine", "dram", "input",
                               "synth:gpu-g1", "platform", "gv100", "settings", "runs", "policy", "fcfs", "params",
                               "metrics", "time_ns", 1.0, "mem_latency_p99_cycles", 288));
    struct report_options how = {.metrics = "mem_latency_p99_cycles"};
    WORKS(report_make(&report, &set, &how, &err));
    ck_assert_double_eq(report.cells[report.columns - 1].value.real, 288);
    report_release(&report);
    how.metrics = "switches_mem_to_pim";
    FAILS_WITH(report_make(&report, &set, &how, &err), "switches_mem_to_pim");
    run_set_release(&set);
}
END_TEST

/* What is nearer than the engine's error is tied, what is further is not; nothing is best beside an estimate that may
 * be it; of uvm's second rank, and of dram, no error is known. */
START_TEST(runs_within_the_error_are_tied)
{
    static const struct {
        const char *engine, *metric;
        double away[3]; /* from 100, in errors of the engine */
        int estimate;   /* the last one is, 2: is more than that */
        bool best[3], tied;
    } rows[] = {{"uvm", "time_ns", {0, 0.9, 1.1}, 0, {true, true, false}, true},
                {"uvm", "time_ns", {0, 1.1, 2}, 0, {true, false, false}, false},
                {"uvm", "time_ns", {0, 1.1, 2}, 1, {true, false, false}, false},
                {"uvm", "time_ns", {0, 1.1, -5}, 1, {false, false, false}, false},
                {"uvm", "time_ns", {0, 1.1, 0.7}, 1, {false, false, false}, false},
                {"uvm", "time_ns", {0, 1.1, 2}, 2, {true, false, false}, false},
                {"uvm", "time_ns", {0, 1.1, -5}, 2, {false, false, false}, false},
                {"uvm", "h2d_bytes", {0, 0.2, 0.3}, 0, {true, false, false}, false},
                {"zerocopy", "time_ns", {0, 1.1, 0.9}, 0, {true, false, true}, true},
                {"dram", "time_ns", {0, 0.2, 0}, 0, {true, false, true}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_set set = {0};
        struct report report;
        json_t *runs = json_array();
        const double measured = measured_error(engine_find(rows[i].engine)->measured, "h200");
        double values[3];
        for (int n = 0; n < 3; n++)
            values[n] = 100 * (1 + rows[i].away[n] * (measured > 0 ? measured : 0.05));
        for (int n = 0; n < 3; n++) {
            const int how = n == 2 ? rows[i].estimate : 0;
            json_t *run =
                json_pack("{s:s,s:{s:i},s:{s:f},s:o}", "policy", "p", "params", "n", n, "metrics", rows[i].metric,
                          values[n], "unbound", how == 1 ? json_pack("[s]", rows[i].metric) : json_array());
            if (how == 2) {
                json_object_set_new(json_object_get(run, "metrics"), rows[i].metric, json_null());
                json_object_set_new(run, "interval", json_pack("{s:[f,n]}", rows[i].metric, values[n]));
            }
            json_array_append_new(runs, run);
        }
        testing_add_runs(&set, "test",
                         json_pack("{s:s,s:s,s:s,s:{},s:o}", "engine", rows[i].engine, "input", "x", "platform", "h200",
                                   "settings", "runs", runs));
        struct report_options how = {.metrics = rows[i].metric};
        WORKS(report_make(&report, &set, &how, &err));
        for (size_t n = 0; n < 3; n++) {
            const struct report_mark mark = report.cells[n * report.columns + report.columns - 2].mark;
            ck_assert_msg(mark.best == rows[i].best[n] && mark.tied == (mark.best && rows[i].tied), "row %zu, run %zu",
                          i, n);
        }
        report_release(&report);
        run_set_release(&set);
    }
}
END_TEST

TEST_MAIN("report")
