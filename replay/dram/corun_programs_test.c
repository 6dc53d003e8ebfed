#include <math.h>

#include "replay/dram/dram_testing.h"
#include "replay/results/runs.h"

static int64_t whole(const struct replay_result *r, size_t run, const char *name)
{
    const struct metric_value *v = outcome_get(&r->runs[run], name);
    ck_assert_msg(v && v->known, "%s is unknown", name);
    return v->whole;
}

/* Into the interconnect, all passes; gv100 has 32 channels. */
static double packets(const struct replay_result *r)
{
    return round(test_real(r, 0, "noc_packets_per_kcycle") * (double)whole(r, 0, "total_cycles") * 32 / 1000);
}

static const char conv[] = "mem=synth:conv2d,n=1024", triad[] = "mem=synth:triad,bytes=8MiB",
                  add[] = "pim=synth:pim-add,channels=32,ops=40";

START_TEST(a_program_without_company_runs_as_alone)
{
    const char *const specs[] = {"synth:triad,bytes=2MiB"}, *const pim[] = {"synth:pim-add,channels=32,ops=50"};
    struct replay_result r;
    test_replay(&r, specs, 1, "vcs=1", "f3fs", NULL);
    ck_assert_int_eq(whole(&r, 0, "mem_cycles"), whole(&r, 0, "mem_alone_cycles"));
    ck_assert(packets(&r) == (double)whole(&r, 0, "mem_requests"));
    replay_release(&r);
    test_replay(&r, pim, 1, "vcs=1", "f3fs", NULL);
    ck_assert_int_eq(whole(&r, 0, "pim_cycles"), whole(&r, 0, "pim_alone_cycles"));
    ck_assert_int_eq(whole(&r, 0, "pim_requests"), 32 * 50 * 16);
    /* 50 operations with a row change each: 64 cycles; launch latency of 5,000 core cycles before. */
    const double cycles = test_real(&r, 0, "pim_cycles") - 5000.0 * 850 / 1132;
    ck_assert_msg(cycles > 50 * 64 && cycles < 50 * 64 + 300, "%.0f cycles", cycles);
    ck_assert(test_real(&r, 0, "bank_parallelism") == 16);
    replay_release(&r);
}
END_TEST

START_TEST(two_sides_slow_each_other_and_say_how_much)
{
    const char *const specs[] = {triad, add};
    struct replay_result r;
    test_replay(&r, specs, 2, "vcs=2,launch_gap=0", "f3fs,frfcfs,fcfs", NULL);
    for (size_t i = 0; i < 3; i++) {
        const double mem = test_real(&r, i, "mem_speedup_ratio"), pim = test_real(&r, i, "pim_speedup_ratio");
        ck_assert_msg(mem > 0 && mem < 1 && pim > 0 && pim <= 1.01, "%.3f %.3f", mem, pim);
        ck_assert_double_eq_tol(test_real(&r, i, "fairness_index"), mem < pim ? mem / pim : pim / mem, 1e-12);
        ck_assert_int_eq(whole(&r, i, "mem_alone_cycles"), whole(&r, 0, "mem_alone_cycles"));
        ck_assert_int_eq(whole(&r, i, "starved"), 0);
    }
    ck_assert_int_gt(whole(&r, 1, "mode_switches"), whole(&r, 0, "mode_switches"));
    ck_assert(test_real(&r, 2, "system_throughput") < test_real(&r, 0, "system_throughput"));
    replay_release(&r);
}
END_TEST

/* conv beside add. Returns how many runs were counted: as many as were foreseen. */
static uint64_t run_pair(struct replay_result *result, const char *policies, const char *set, int threads,
                         struct sweep_cache *shared)
{
    struct input inputs[2];
    struct progress progress = {0};
    bool usage;
    WORKS(input_open(&inputs[0], conv + 4, "mem", false, &err));
    WORKS(input_open(&inputs[1], add + 4, "pim", false, &err));
    const struct replay_request request = {.engine = &engine_dram,
                                           .policy_list = policies,
                                           .sets = &set,
                                           .set_count = set ? 1 : 0,
                                           .inputs = inputs,
                                           .input_count = 2,
                                           .threads = threads,
                                           .progress = &progress,
                                           .sweep_cache = shared};
    WORKS(replay_run(&request, result, &usage, &err));
    for (int i = 0; i < 2; i++)
        input_close(&inputs[i]);
    ck_assert_uint_eq(progress.done, progress.total);
    return progress.done;
}

/* Releases both. */
static void must_be_the_same(struct replay_result *r, struct replay_result *other)
{
    for (size_t p = 0; p < r->policy_count; p++)
        for (const struct metric *m = engine_dram.metrics; m->name; m++) {
            const struct metric_value *a = outcome_get(&r->runs[p], m->name),
                                      *b = outcome_get(&other->runs[p], m->name);
            ck_assert_msg(a->known == b->known && a->whole == b->whole && (!a->known || a->real == b->real), "%s",
                          m->name);
        }
    replay_release(r);
    replay_release(other);
}

/* The same through more threads than there are policies. */
START_TEST(threads_change_nothing)
{
    struct replay_result r[2];
    for (int i = 0; i < 2; i++)
        run_pair(&r[i], "fcfs,f3fs", "cut=10000", i ? 4 : 1, NULL);
    must_be_the_same(&r[0], &r[1]);
}
END_TEST

START_TEST(points_of_a_sweep_share_what_each_side_is_alone)
{
    static const char *const sets[] = {"vcs=1,cut=3000", "vcs=2,cut=3000", "cut=3000,cl=14", "cut=2000,cl=14"};
    static const size_t kept[] = {2, 2, 4, 6};
    struct sweep_cache *shared = sweep_cache_new(NULL);
    for (int i = 0; i < 4; i++) {
        struct replay_result with, without;
        run_pair(&with, "f3fs", sets[i], 1, shared);
        run_pair(&without, "f3fs", sets[i], 1, NULL);
        must_be_the_same(&with, &without);
        ck_assert_uint_eq(sweep_cache_count(shared), kept[i]);
    }
    sweep_cache_free(shared);
}
END_TEST

/* Notes that say what was left out. */
static int cuts(const struct replay_result *r)
{
    int n = 0;
    for (size_t i = 0; i < r->runs[0].note_count; i++)
        n += strstr(r->runs[0].notes[i], "cut to") != NULL;
    return n;
}

START_TEST(a_cut_is_said_and_cut_none_runs_it_whole)
{
    const char *const specs[] = {conv, add};
    struct replay_result r;
    test_replay(&r, specs, 2, "cut=10000,vcs=1", "f3fs", NULL);
    ck_assert_int_eq(cuts(&r), 2);
    ck_assert_int_eq(whole(&r, 0, "pim_requests"), 32 * 336); /* 313 of each warp, in turns of 48 */
    ck_assert_int_lt(whole(&r, 0, "mem_requests"), 100000);
    replay_release(&r);
    test_replay(&r, specs, 2, "cut=none,vcs=1", "f3fs", NULL);
    ck_assert_int_eq(cuts(&r), 0);
    ck_assert_int_gt(whole(&r, 0, "mem_requests"), 100000);
    replay_release(&r);
}
END_TEST

/* Three arrays of 4 MiB pass through the 6 MiB of L2 in each launch: 0.12 of the reads of the whole hit. Of each launch
 * the cut keeps the same wave, whose lines would stay there. */
START_TEST(what_a_cut_leaves_out_has_passed_through_l2)
{
    const char *const specs[] = {"synth:fdtd2d,n=1024"};
    struct replay_result r;
    test_replay(&r, specs, 1, "cut=20000,vcs=1", "frfcfs", NULL);
    const double hits = test_real(&r, 0, "l2_hit_ratio");
    ck_assert_msg(hits > 0.05 && hits < 0.2, "%.3f", hits);
    replay_release(&r);
}
END_TEST

/* 125 boxes of 7,856 B, a quarter more than L2 holds. The whole misses in L2 what it must: each sector of its memory
 * when it is read first, and at most once more, since the first reads push out what the copies have left there of
 * others; then the same are read by 13^3 pairs of boxes. A cut to the middle of the warps begins behind that: it may
 * find more by the share of those reads, and no less by more than the share of one of them. */
START_TEST(a_cut_inside_warps_finds_in_l2_what_the_whole_finds)
{
    const char *const specs[] = {"synth:rodinia-lavamd,boxes=5"};
    const double memory = 125.0 * 7856 / 32, writes = 13.0 * 13 * 13 * 400;
    struct replay_result r;
    test_replay(&r, specs, 1, "cut=none,vcs=1,l2_bytes=768KiB", "frfcfs", NULL);
    const double all = test_real(&r, 0, "l2_hit_ratio"), cold = memory / (packets(&r) - writes);
    replay_release(&r);
    test_replay(&r, specs, 1, "cut=100000,vcs=1,l2_bytes=768KiB", "frfcfs", NULL);
    const double cut = test_real(&r, 0, "l2_hit_ratio");
    ck_assert_int_eq(cuts(&r), 1);
    ck_assert(packets(&r) < 200000);
    replay_release(&r);
    ck_assert_msg(cold > 0.01 && cold < 0.1, "%.3f", cold);
    ck_assert_msg(cut > all - cold && cut < all + 2 * cold, "%.3f, whole %.3f, cold %.3f", cut, all, cold);
}
END_TEST

static bool warns(const struct replay_result *r, size_t run, const char *of, const char *metric)
{
    int found = 0;
    bool named = false;
    for (size_t n = 0; n < r->runs[run].note_count; n++) {
        const char *text = run_warning(r->runs[run].notes[n]);
        const bool is = text && strstr(text, of);
        found += is;
        named |= is && strstr(text, metric);
    }
    ck_assert_int_le(found, 1); /* one sentence names all metrics */
    return named;
}

/* The policy with most of a metric. Whoever is faster than alone is warned of, and nobody else is. */
static size_t winner(const struct replay_result *r, const char *metric)
{
    size_t best = 0;
    for (size_t i = 0; i < r->policy_count; i++) {
        best = test_real(r, i, metric) > test_real(r, best, metric) ? i : best;
        const bool mem = test_real(r, i, "mem_speedup_ratio") > 1, pim = test_real(r, i, "pim_speedup_ratio") > 1;
        ck_assert(warns(r, i, "faster than alone: the MEM side", "") == mem);
        ck_assert(warns(r, i, "faster than alone: the PIM side", "") == pim);
    }
    return best;
}

struct winners {
    size_t of[2];
    bool settled[2];
    double share;
};

static struct winners winners_at(const char *const *specs, const char *cut)
{
    static const char *const metrics[] = {"system_throughput", "fairness_index"};
    struct replay_result r;
    struct winners w;
    test_replay(&r, specs, 2, testing_text("vcs=2,mem_share=0.1,launch_gap=0,l2_bytes=768KiB,cut=%s", cut),
                "frfcfs,frrr-fcfs,f3fs", NULL);
    for (int m = 0; m < 2; m++) {
        w.of[m] = winner(&r, metrics[m]);
        w.settled[m] = !warns(&r, 0, "not settled", metrics[m]);
    }
    const bool is_cut = strcmp(cut, "none") != 0;
    w.share = is_cut ? fmin(test_real(&r, 0, "mem_simulated_ratio"), test_real(&r, 0, "pim_simulated_ratio")) : 1;
    ck_assert(outcome_get(&r.runs[0], "mem_simulated_ratio")->known == is_cut);
    replay_release(&r);
    return w;
}

/* Winners at a cut, at twice the cut and of the whole programs are the same, or the cut says that they may not be. */
START_TEST(a_winner_that_another_cut_turns_is_not_settled)
{
    static const char *const pairs[][2] = {
        {"mem=synth:rodinia-nn,n=100000", "pim=synth:pim-add,ops=80"},
        {"mem=synth:rodinia-hotspot,n=192", "pim=synth:pim-copy,ops=120"},
        {"mem=synth:triad,bytes=1MiB", "pim=synth:pim-add,ops=120"},
        {"mem=synth:rodinia-srad-v2,rows=96,cols=128", "pim=synth:pim-add,ops=80"},
        {"mem=synth:rodinia-streamcluster,n=1024,dim=24", "pim=synth:pim-add,ops=80"}};
    int turned = 0, settled = 0;
    for (size_t p = 0; p < 5; p += (size_t)testing_step()) {
        const struct winners cut = winners_at(pairs[p], "5000"), twice = winners_at(pairs[p], "10000"),
                             whole = winners_at(pairs[p], "none");
        ck_assert(cut.share < 1 && cut.share <= twice.share && whole.settled[0] && whole.settled[1]);
        for (int m = 0; m < 2; m++) {
            const bool same = cut.of[m] == twice.of[m] && cut.of[m] == whole.of[m];
            ck_assert_msg(same || !cut.settled[m], "%s %s, metric %d", pairs[p][0], pairs[p][1], m);
            ck_assert_msg(twice.of[m] == whole.of[m] || !twice.settled[m], "%s, twice, metric %d", pairs[p][0], m);
            turned += !same;
            settled += cut.settled[m] + twice.settled[m];
        }
    }
    ck_assert_msg(testing_step() > 1 || (turned > 1 && settled > 0), "%d turned, %d settled", turned, settled);
}
END_TEST

/* Half of 1,000 is a wave of conv and 48 operations of add's warps too. */
START_TEST(half_the_cut_is_run_where_it_keeps_less)
{
    struct replay_result r;
    ck_assert_uint_eq(run_pair(&r, "fcfs,f3fs", "cut=1000", 1, NULL), 2);
    ck_assert(warns(&r, 0, "half the cut simulates as much, ", "by system_throughput and fairness_index"));
    ck_assert(warns(&r, 0, "(mem_simulated_ratio); half ", "(pim_simulated_ratio)"));
    ck_assert(!warns(&r, 0, "not settled", " leads "));
    replay_release(&r);
    ck_assert_uint_eq(run_pair(&r, "fcfs,f3fs", "cut=40000,mem_share=0.1", 1, NULL), 4);
    ck_assert(!warns(&r, 0, "as much of the work", ""));
    replay_release(&r);
    ck_assert_uint_eq(run_pair(&r, "f3fs", "cut=40000,mem_share=0.1", 1, NULL), 1);
    replay_release(&r);
}
END_TEST

static void refused(const char *const *specs, const char *const *roles, size_t n, const char *set, const char *says)
{
    struct input inputs[3];
    for (size_t i = 0; i < n; i++)
        WORKS(input_open(&inputs[i], specs[i], roles[i], false, &err));
    const char *sets[] = {set};
    const struct replay_request request = {.engine = &engine_dram,
                                           .policy_list = "f3fs",
                                           .sets = sets,
                                           .set_count = 1,
                                           .inputs = inputs,
                                           .input_count = n,
                                           .threads = 1};
    struct replay_result r;
    bool usage;
    FAILS_WITH(replay_run(&request, &r, &usage, &err), says);
    for (size_t i = 0; i < n; i++)
        input_close(&inputs[i]);
}

START_TEST(what_cannot_be_run_is_refused_with_the_reason)
{
    static const char *const specs[] = {"synth:triad", "synth:pim-add,ops=1", "synth:pim-copy,ops=1"};
    static const char *const none[] = {"", "", ""}, *const wrong[] = {"pim", "mem", ""};
    static const char *const wide[] = {"synth:gpu-g2,sms=200"};
    refused(specs, none, 3, "vcs=1", "more than two sides");
    refused(specs + 1, none, 2, "vcs=1", "two PIM programs");
    refused(specs, wrong, 1, "vcs=1", "--pim synth:triad: its requests are MEM's");
    refused(specs, none, 1, "cut=some", "cut: found 'some'");
    refused(wide, none, 1, "vcs=1", "takes 200 multiprocessors");
}
END_TEST

START_TEST(two_gpu_programs_share_the_multiprocessors)
{
    const char *const specs[] = {conv, "mem=synth:conv2d,n=512"}, *const twins[] = {conv, conv};
    struct replay_result r;
    test_replay(&r, specs, 2, "vcs=1,mem2_sms=20,launch_gap=0", "frfcfs", NULL);
    ck_assert(test_real(&r, 0, "mem_speedup_ratio") <= 1.01);
    ck_assert(test_real(&r, 0, "system_throughput") - test_real(&r, 0, "mem_speedup_ratio") <= 1.01);
    ck_assert_int_eq(whole(&r, 0, "pim_requests"), 0);
    replay_release(&r);
    /* Twins have memory of their own: what the copies left of one in L2 is overwritten by the other. */
    test_replay(&r, twins, 2, "vcs=1,mem2_sms=40,launch_gap=0,loop=no,cut=none", "frfcfs", NULL);
    const double together = test_real(&r, 0, "l2_hit_ratio");
    replay_release(&r);
    test_replay(&r, twins, 1, "vcs=1,mem_share=0.5,launch_gap=0,cut=none", "frfcfs", NULL);
    ck_assert_msg(together < test_real(&r, 0, "l2_hit_ratio"), "%.3f", together);
    replay_release(&r);
}
END_TEST

START_TEST(a_share_of_the_multiprocessors_is_as_if_there_were_so_many)
{
    const char *const share[] = {"synth:gpu-g2,cycles=300", "synth:pim-add,ops=1"};
    const char *const asked[] = {"synth:gpu-g2,cycles=300,sms=36", share[1]};
    for (size_t n = 1; n <= 2; n++) {
        struct replay_result r[2];
        test_replay(&r[0], share, n, "vcs=2,mem_share=0.45", "frfcfs", NULL);
        test_replay(&r[1], asked, n, "vcs=2", "frfcfs", NULL);
        ck_assert_int_eq(whole(&r[0], 0, "mem_cycles"), whole(&r[1], 0, "mem_cycles"));
        ck_assert_int_eq(whole(&r[0], 0, "mem_alone_cycles"), whole(&r[1], 0, "mem_alone_cycles"));
        replay_release(&r[0]);
        replay_release(&r[1]);
    }
}
END_TEST

START_TEST(the_language_model_is_done_once_and_reports_its_ideal)
{
    const char *const specs[] = {"synth:llm,scale=128"};
    struct replay_result r;
    test_replay(&r, specs, 1, "vcs=2", "frfcfs", NULL);
    const double ideal = test_real(&r, 0, "ideal_speedup_ratio"), got = test_real(&r, 0, "concurrent_speedup_ratio");
    ck_assert_msg(ideal > 1.03 && ideal < 2, "ideal %.3f", ideal); /* products wait for one slice of L2 */
    ck_assert_msg(got > 1, "concurrent %.3f", got);
    ck_assert(packets(&r) == (double)(whole(&r, 0, "mem_requests") + whole(&r, 0, "pim_requests")));
    ck_assert_int_eq(cuts(&r), 0);
    replay_release(&r);
}
END_TEST

TEST_MAIN("dram_programs")
