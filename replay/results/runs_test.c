#include "replay/results/runs.h"

#include "replay/results/testing_runs.h"

static const char text[] =
    "{\"schema\":1,\"engine\":\"uvm\",\"input\":\"synth:bicg,bytes=1GiB,kernel=1,bytes=8GiB\",\"platform\":\"titanv\","
    "\"settings\":{\"oversubscription_pct\":150},\"runs\":["
    "{\"policy\":\"tree\",\"params\":{\"threshold\":51},\"metrics\":{\"faults\":7,\"time_ns\":null},\"interval\":{},"
    "\"unbound\":[\"faults\"]},"
    "{\"policy\":\"fixed\",\"params\":{\"granularity\":4096},\"metrics\":{\"faults\":9},\"interval\":{\"time_ns\":[2,4]"
    "}},"
    "{\"policy\":\"fixed\",\"params\":{\"granularity\":2097152},\"metrics\":{\"faults\":3},\"notes\":[\"x\"]}],"
    "\"baseline\":{\"policy\":\"tree\",\"params\":{\"threshold\":51},\"metrics\":{}}}";

START_TEST(json_of_replay_reads_back)
{
    struct run_set set = {0};
    WORKS(run_set_load(&set, testing_write("r.json", text, sizeof text - 1), &err));
    ck_assert_uint_eq(set.count, 3);
    ck_assert(set.runs[0].baseline && !set.runs[1].baseline);
    double v;
    ck_assert(run_metric(&set.runs[0], "faults", &v) && v == 7);
    ck_assert(!run_metric(&set.runs[0], "time_ns", &v));
    ck_assert(run_unbound(&set.runs[0], "faults") && !run_interval(&set.runs[0], "faults", &v, &v));
    ck_assert(!run_unbound(&set.runs[1], "faults") && !run_unbound(&set.runs[1], "time_ns"));
    ck_assert(run_metric(&set.runs[1], "time_ns", &v) && v == 3);
    char buf[128];
    ck_assert_str_eq(run_key(&set.runs[0], "bytes", buf, sizeof buf), "8GiB");
    ck_assert_str_eq(run_key(&set.runs[0], "oversubscription_pct", buf, sizeof buf), "150");
    ck_assert_str_eq(run_key(&set.runs[0], "workload", buf, sizeof buf), "bicg");
    ck_assert_ptr_null(run_key(&set.runs[0], "colour", buf, sizeof buf));
    run_set_release(&set);
}
END_TEST

START_TEST(other_files_are_refused_with_the_place)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "neither"},
               {"id,x\n", "neither"},
               {"{\n\"runs\": [}", "b.json:2"},
               {"{}", "no \"runs\""},
               {"{\"runs\":[{}]}", "no \"policy\""}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct run_set set = {0};
        struct err err = {""};
        ck_assert_int_eq(run_set_load(&set, testing_write("b.json", bad[i].text, strlen(bad[i].text)), &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
        run_set_release(&set);
    }
}
END_TEST

static void add(struct run_set *set, const char *input, int pct, const char *policy)
{
    testing_add_runs(set, "test",
                     json_pack("{s:s,s:s,s:s,s:{s:i,s:s},s:[{s:s,s:{s:i}}]}", "engine", "uvm", "input", input,
                               "platform", "titanv", "settings", "pct", pct, "mode", "demand", "runs", "policy", policy,
                               "metrics", "faults", 1));
}

START_TEST(runs_of_one_engine_are_copied)
{
    struct run_set set = {0}, uvm = {0}, other = {0};
    add(&set, "b", 0, "tree");
    add(&set, "b", 0, "fixed");
    WORKS(run_set_add_engine(&uvm, &set, "uvm", &err));
    WORKS(run_set_add_engine(&other, &set, "dram", &err));
    ck_assert_uint_eq(uvm.count, 2);
    ck_assert_uint_eq(other.count, 0);
    run_set_release(&set);
    ck_assert_str_eq(uvm.runs[1].policy, "fixed");
    run_set_release(&uvm);
    run_set_release(&other);
}
END_TEST

TEST_MAIN("runs")
