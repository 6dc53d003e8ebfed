/* Co-runs of streams that are no programs: the mixes of the ground truth (fixtures/dram), each side with its window. */
#include "replay/dram/window_testing.h"

static const char policies[] = "fcfs,mem-first,pim-first,frfcfs,frfcfs-cap,bliss,frrr-fcfs,f3fs";
enum { FCFS, FRFCFS = 3, F3FS = 7, POLICIES = 8 };

static int64_t whole(const struct replay_result *r, size_t run, const char *name)
{
    const struct metric_value *v = outcome_get(&r->runs[run], name);
    ck_assert_msg(v && v->known, "%s is unknown", name);
    return v->whole;
}

/* A mix of the truth as a trace. */
static const char *mix(const char *name)
{
    return test_import(testing_text("fixtures/dram/%s.csv.xz", name), "mix.offchip");
}

START_TEST(both_sides_end_once_and_slow_each_other)
{
    const char *const specs[] = {mix("x10_onebank_pimcopy")};
    for (int vcs = 1; vcs <= 2; vcs++) {
        struct replay_result r;
        test_replay(&r, specs, 1, vcs == 1 ? "vcs=1" : "vcs=2", policies, NULL);
        for (size_t i = 0; i < POLICIES; i++) {
            const double mem = test_real(&r, i, "mem_speedup_ratio"), pim = test_real(&r, i, "pim_speedup_ratio");
            ck_assert_msg(mem > 0 && mem <= 1.01 && pim > 0 && pim <= 1.01, "run %zu: %.3f %.3f", i, mem, pim);
            ck_assert_double_eq_tol(test_real(&r, i, "fairness_index"), mem < pim ? mem / pim : pim / mem, 1e-12);
            ck_assert_int_eq(whole(&r, i, "mem_alone_cycles"), whole(&r, 0, "mem_alone_cycles"));
        }
        ck_assert(test_real(&r, F3FS, "system_throughput") > test_real(&r, FCFS, "system_throughput"));
        ck_assert_int_lt(whole(&r, F3FS, "mode_switches"), whole(&r, FCFS, "mode_switches"));
        replay_release(&r);
    }
}
END_TEST

START_TEST(a_third_side_is_refused)
{
    struct input inputs[2];
    struct replay_result r;
    bool usage;
    const char *spec = mix("x10_onebank_pimcopy");
    for (int i = 0; i < 2; i++)
        WORKS(input_open(&inputs[i], spec, "mem", false, &err));
    const struct replay_request request = {
        .engine = &engine_dram, .policy_list = "fcfs", .inputs = inputs, .input_count = 2, .threads = 1};
    FAILS_WITH(replay_run(&request, &r, &usage, &err), "more than two sides");
    for (int i = 0; i < 2; i++)
        input_close(&inputs[i]);
}
END_TEST

START_TEST(a_run_limit_makes_a_starved_run_a_result)
{
    const char *const specs[] = {mix("x10_onebank_pimcopy")};
    struct replay_result r;
    test_replay(&r, specs, 1, "vcs=1,run_limit_cycles=500", "f3fs", NULL);
    ck_assert_int_eq(whole(&r, 0, "starved"), 1);
    ck_assert(test_real(&r, 0, "fairness_index") == 0);
    ck_assert(!outcome_get(&r.runs[0], "mem_cycles")->known);
    ck_assert_int_eq(whole(&r, 0, "total_cycles"), 500);
    replay_release(&r);
}
END_TEST

/* Under saturation bliss blacklists both classes most of the time; the two shares leave room for frfcfs. */
START_TEST(bliss_says_how_long_a_class_went_first)
{
    const char *const specs[] = {mix("x10_onebank_pimcopy")};
    struct replay_result r;
    test_replay(&r, specs, 1, "vcs=1", "bliss,frfcfs", NULL);
    const double mem = test_real(&r, 0, "mem_favoured_ratio"), pim = test_real(&r, 0, "pim_favoured_ratio");
    ck_assert_msg(mem >= 0 && pim >= 0 && mem + pim < 1, "%.3f and %.3f", mem, pim);
    ck_assert(!outcome_get(&r.runs[1], "mem_favoured_ratio")->known);
    replay_release(&r);
}
END_TEST

/* Bursts of writes to a few banks: fewer in flight, later done. */
START_TEST(a_smaller_window_is_slower)
{
    struct err err = {""};
    struct input input;
    struct dram_stream stream;
    struct dram_stats one, all;
    struct platform *platform = platform_load("gv100", &err);
    const char *path = test_import("fixtures/dram/m08_writebacks_32_128.csv.xz", "writes.offchip");
    ck_assert_msg(platform && !input_open(&input, path, "", false, &err), "%s", err.msg);
    ck_assert(!dram_stream_load(&stream, &input, 1, 1, platform, NULL, &err));
    const int64_t slow = test_window(&stream, platform, 0, 1, 0, &one);
    ck_assert_int_gt(slow, 2 * test_window(&stream, platform, 0, 640, 0, &all));
    ck_assert_int_eq(one.in[DRAM_MEM], all.in[DRAM_MEM]);
    dram_stream_release(&stream);
    input_close(&input);
    platform_free(platform);
}
END_TEST

TEST_MAIN("corun_streams")
