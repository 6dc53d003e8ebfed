/* Co-runs: orderings that held in every variant of front end and streams that was tried, on streams of our own with
 * fixed seeds. They are checks of this model, not a reproduction of the paper. */
#include "replay/dram/dram_corun.h"

#include "replay/dram/dram_testing.h"

enum { FCFS, MEM_FIRST, FRFCFS, CAP, FRRR, F3FS, POLICIES };
static const char policies[] = "fcfs,mem-first,frfcfs,frfcfs-cap,frrr-fcfs,f3fs";

/* Means over a few pairs. */
struct means {
    double throughput[POLICIES], switches[POLICIES], arrival[POLICIES];
};

static void run_pairs(const char *vcs, struct means *m)
{
    static const char *const gpus[] = {"mem=synth:gpu-g2,cycles=15000", "mem=synth:gpu-g8,cycles=15000",
                                       "mem=synth:gpu-g15,cycles=15000", "mem=synth:gpu-g20,cycles=15000"};
    static const char *const pims[] = {"pim=synth:pim-add,ops=225", "pim=synth:pim-scale,ops=225"};
    memset(m, 0, sizeof *m);
    for (int g = 0; g < 4; g++)
        for (int p = 0; p < 2; p++) {
            const char *const specs[] = {gpus[g], pims[p]};
            struct replay_result r;
            test_replay(&r, specs, 2, vcs, policies, NULL);
            for (size_t i = 0; i < POLICIES; i++) {
                const struct metric_value *st = outcome_get(&r.runs[i], "system_throughput");
                m->throughput[i] += st->known ? st->real / 8 : 0;
                m->switches[i] += test_real(&r, i, "mode_switches") / test_real(&r, i, "total_cycles");
                m->arrival[i] += test_real(&r, i, "mem_arrival_ratio") / 8;
            }
            replay_release(&r);
        }
}

START_TEST(with_one_virtual_channel_f3fs_is_best_and_fcfs_worst)
{
    struct means m;
    run_pairs("vcs=1", &m);
    ck_assert(m.throughput[F3FS] > m.throughput[FRFCFS]);
    ck_assert(m.throughput[FRFCFS] > m.throughput[CAP]);
    ck_assert(m.throughput[F3FS] > m.throughput[FRRR]);
    ck_assert(m.throughput[CAP] > m.throughput[MEM_FIRST]);
    ck_assert(m.throughput[MEM_FIRST] > m.throughput[FCFS]);
    ck_assert(m.switches[F3FS] < m.switches[FRFCFS]);
    ck_assert(m.switches[F3FS] < m.switches[CAP]);
    ck_assert(m.switches[F3FS] < m.switches[FRRR]);
}
END_TEST

START_TEST(a_second_virtual_channel_raises_f3fs_throughput_and_mem_firsts_arrivals)
{
    struct means one, two;
    run_pairs("vcs=1", &one);
    run_pairs("vcs=2", &two);
    ck_assert(two.throughput[F3FS] > one.throughput[F3FS]);
    ck_assert(two.arrival[MEM_FIRST] > 0.9);
    ck_assert(one.arrival[MEM_FIRST] < 0.7);
}
END_TEST

START_TEST(pim_scale_gets_about_60_percent_of_the_throughput_under_frrr_fcfs)
{
    double share = 0;
    static const char *const gpus[] = {"mem=synth:gpu-g2,cycles=15000", "mem=synth:gpu-g9,cycles=15000",
                                       "mem=synth:gpu-g11,cycles=15000", "mem=synth:gpu-g20,cycles=15000"};
    for (int g = 0; g < 4; g++) {
        const char *const specs[] = {gpus[g], "pim=synth:pim-scale,ops=225"};
        struct replay_result r;
        test_replay(&r, specs, 2, "vcs=2", "frrr-fcfs", NULL);
        share += test_real(&r, 0, "pim_speedup_ratio") / test_real(&r, 0, "system_throughput") / 4;
        replay_release(&r);
    }
    ck_assert_msg(share > 0.5 && share < 0.7, "share %.3f", share);
}
END_TEST

START_TEST(two_gpu_kernels_share_a_channel)
{
    const char *const specs[] = {"mem=synth:gpu-g15,cycles=8000", "mem=synth:gpu-g11,cycles=8000,sms=8"};
    struct replay_result r;
    test_replay(&r, specs, 2, "vcs=1", "frfcfs", NULL);
    ck_assert(test_real(&r, 0, "mem_speedup_ratio") <= 1.01);
    ck_assert(test_real(&r, 0, "mem2_speedup_ratio") <= 1.01);
    replay_release(&r);
}
END_TEST

/* Under saturation bliss blacklists both classes most of the time; the two shares leave room for frfcfs. */
START_TEST(bliss_says_how_long_a_class_went_first)
{
    const char *const specs[] = {"mem=synth:gpu-g15,cycles=15000", "pim=synth:pim-add,ops=225"};
    struct replay_result r;
    test_replay(&r, specs, 2, "vcs=1", "bliss,frfcfs", NULL);
    const double mem = test_real(&r, 0, "mem_favoured_ratio"), pim = test_real(&r, 0, "pim_favoured_ratio");
    ck_assert_msg(mem >= 0 && pim >= 0 && mem + pim > 0 && mem + pim < 0.5, "%.3f and %.3f", mem, pim);
    ck_assert(!outcome_get(&r.runs[1], "mem_favoured_ratio")->known);
    replay_release(&r);
}
END_TEST

/* G10 computes: alone on a channel that is nearly idle, 72 of 80 multiprocessors cost it 1 - 0.9 ^ 0.6 = 6.1 %. */
START_TEST(a_gpu_kernel_leaves_the_other_the_rest_of_the_multiprocessors)
{
    const char *const specs[] = {"mem=synth:gpu-g10,cycles=60000", "mem=synth:gpu-g10,cycles=60000,sms=8"};
    struct replay_result r;
    test_replay(&r, specs, 2, "vcs=1", "frfcfs", NULL);
    const double speedup = test_real(&r, 0, "mem_speedup_ratio");
    ck_assert_msg(speedup > 0.92 && speedup < 0.945, "speed-up %.3f", speedup);
    replay_release(&r);
}
END_TEST

TEST_MAIN("dram_corun", with_one_virtual_channel_f3fs_is_best_and_fcfs_worst,
          a_second_virtual_channel_raises_f3fs_throughput_and_mem_firsts_arrivals,
          pim_scale_gets_about_60_percent_of_the_throughput_under_frrr_fcfs, two_gpu_kernels_share_a_channel,
          a_gpu_kernel_leaves_the_other_the_rest_of_the_multiprocessors, bliss_says_how_long_a_class_went_first)
