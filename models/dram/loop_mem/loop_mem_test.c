/* The ways in which the loop hurries change nothing: streams of long runs of hits give the same counters, the same
 * latencies and the same end whether what becomes of each request is written down (loop_test.c compares that with every
 * cycle stepped), or not. */
#include "models/base/sections.h"
#include "models/dram/policy_testing.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"

enum { REQUESTS = 3000, SEEDS = 400 };

/* Those that ask which request is older, in their ways. */
static const char *const policies[] = {"frfcfs", "frfcfs-cap", "frrr-fcfs", "f3fs"};

static struct dram_request requests[REQUESTS];

/* Runs of one row over some banks in turn, `run` requests each; now and then something else. */
static void make(struct random *x)
{
    const uint32_t banks = 1 + random_below(x, 6), step = 1 + random_below(x, 5), run = 1 + random_below(x, 12);
    const uint32_t row = 1 + random_below(x, 300), base = random_below(x, 16);
    const uint32_t odd = random_below(x, 2) ? 0 : 1 + random_below(x, 40), gap = random_below(x, 3);
    const bool pims = random_below(x, 2), all = random_below(x, 4) == 0;
    const uint32_t last = random_below(x, 3) ? 0 : 1 + random_below(x, 60); /* PIM requests behind all others */
    int64_t t = random_below(x, 2) ? 0 : INT64_C(1) << 40;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        t += gap == 0 ? 0 : gap == 1 ? 1 : random_below(x, 3);
        const uint32_t lap = i / run / banks / row;
        const uint32_t bank = (base + (all ? lap * banks : 0) + i / run % banks * step) % 16;
        requests[i] = (struct dram_request){t, 1 + lap, 0, (uint8_t)bank, TEST_RD};
        if (i == REQUESTS - last) /* about when the last of them enters */
            t += gap == 0 ? i - 64 + random_below(x, 200) : random_below(x, 80);
        if (i >= REQUESTS - last) {
            requests[i].flags = TEST_PIM;
            continue;
        }
        if (!odd || random_below(x, 1000) >= odd)
            continue;
        switch (random_below(x, pims ? 6 : 5)) {
        case 0:
            requests[i].flags = TEST_WR;
            break;
        case 1:
            requests[i].flags = (uint8_t)(2 + random_below(x, 3));
            break;
        case 2:
            requests[i].row = 5000;
            break;
        case 3:
            requests[i].bank = (uint8_t)random_below(x, 16);
            break;
        case 4:
            t += random_below(x, 200);
            break;
        default:
            requests[i].flags = TEST_PIM;
            break;
        }
    }
}

static struct dram_platform platform_of(struct random *x)
{
    struct dram_platform p;
    param_defaults(dram_params, &p);
    p.queue = random_below(x, 2) ? 64 : 1 + random_below(x, random_below(x, 8) ? 64 : 256);
    p.bank_groups = 1 << random_below(x, 5);
    p.burst_cycles = p.ccd = 1 + (random_below(x, 5) == 0);
    p.ccdl = p.ccd + random_below(x, 3);
    p.rrd = 1 + random_below(x, 8);
    p.rtpl = 1 + random_below(x, 9);
    p.ras = 1 + random_below(x, 60);
    p.rp = 1 + random_below(x, 30);
    return p;
}

/* The same with and without what test_run() writes down of each request. */
static void compare(const char *policy, int vcs, int seed)
{
    test_hurried = true;
    test_run(policy, "", requests, REQUESTS, vcs);
    const struct dram_stats stats = test_stats;
    const struct dram_legal legal = test_channel.legal;
    const int64_t cycles = test_feed.cycles;
    const uint32_t seq = test_channel.seq;
    test_hurried = false;
    test_run(policy, "", requests, REQUESTS, vcs);
    ck_assert_msg(cycles == test_feed.cycles, "seed %d vcs %d: %lld cycles, %lld", seed, vcs, (long long)cycles,
                  (long long)test_feed.cycles);
    ck_assert_msg(memcmp(&stats, &test_stats, sizeof stats) == 0, "seed %d vcs %d: counters differ", seed, vcs);
    ck_assert_msg(memcmp(&legal, &test_channel.legal, sizeof legal) == 0, "seed %d vcs %d: watch differs", seed, vcs);
    ck_assert_msg(seq == test_channel.seq, "seed %d vcs %d: entries counted to %u, %u", seed, vcs, seq,
                  test_channel.seq);
    int64_t sum = 0;
    for (int i = 0; i < REQUESTS; i++)
        sum += test_done[i] - requests[i].arrival;
    ck_assert_int_eq(sum, stats.answer_cycles[0] + stats.answer_cycles[1]);
}

START_TEST(runs_of_hits_are_what_their_cycles_are)
{
    int64_t hits = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct random x = {(uint64_t)seed};
        const struct dram_platform platform = platform_of(&x);
        test_platform = &platform;
        make(&x);
        for (int vcs = 1; vcs <= 2; vcs++)
            for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
                compare(policies[p], vcs, seed);
                hits += test_stats.hits[DRAM_MEM];
            }
    }
    ck_assert_int_gt(hits, (int64_t)SEEDS * REQUESTS);
}
END_TEST

/* A rule that asks nothing, PRE a cycle after PRE, has each command told to the device's watch; with refresh alone only
 * dram_legal is told, and the watch follows at the end of a run: the same counters, and a watch
 * that knows the same commands. */
START_TEST(a_refresh_needs_no_second_look)
{
    int64_t refreshes = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct random x = {(uint64_t)seed};
        struct dram_platform platform = platform_of(&x);
        platform.refresh = 1 + random_below(&x, 2);
        platform.rfc = 20 + random_below(&x, 300), platform.rfcb = 20 + random_below(&x, 900);
        platform.rrefd = 1 + random_below(&x, 15), platform.rpab = platform.rp + random_below(&x, 9);
        platform.refi = platform.refresh == DRAM_REFRESH_ALL ? 400 + platform.rfc + random_below(&x, 1000)
                                                             : 16 * (300 + random_below(&x, 300));
        make(&x);
        test_platform = &platform;
        test_hurried = random_below(&x, 2);
        const int vcs = 1 + (int)random_below(&x, 2);
        test_run(policies[seed % 4], "", requests, REQUESTS, vcs);
        const struct dram_stats stats = test_stats;
        const struct command_checker watch = test_channel.device.watch;
        ck_assert(!test_channel.device.rules);
        platform.ppd = 1;
        test_run(policies[seed % 4], "", requests, REQUESTS, vcs);
        ck_assert(test_channel.device.rules);
        ck_assert_msg(memcmp(&stats, &test_stats, sizeof stats) == 0, "seed %d: counters differ", seed);
        ck_assert_msg(memcmp(watch.row, test_channel.device.watch.row, sizeof watch.row) == 0, "seed %d: rows", seed);
        for (int k = 0; k < DRAM_WATCH_TIMES; k++)
            ck_assert_msg(watch.at[k] == test_channel.device.watch.at[k], "seed %d: time %d is %lld, %lld", seed, k,
                          (long long)watch.at[k], (long long)test_channel.device.watch.at[k]);
        refreshes += stats.refreshes;
    }
    test_hurried = false;
    ck_assert_int_gt(refreshes, SEEDS);
}
END_TEST

/* A refresh allows its banks ACT from one cycle on, the others from another. */
START_TEST(an_act_within_a_refresh_is_illegal)
{
    const struct {
        int bank;
        int32_t cycle;
        bool legal;
    } acts[] = {{2, 499, false}, {2, 500, true}, {3, 109, false}, {3, 110, true}};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct dram_platform platform;
        struct dram_timing timing;
        struct dram_legal legal;
        param_defaults(dram_params, &platform);
        ck_assert_int_eq(dram_timing_init(&timing, &platform, NULL), 0);
        dram_legal_init(&legal);
        dram_legal_refresh(&legal, 1u << 2, 500, 110);
        dram_legal_act(&legal, &timing, acts[i].cycle, acts[i].bank, 7);
        ck_assert_msg((legal.bad == NULL) == acts[i].legal, "bank %d at %d", acts[i].bank, (int)acts[i].cycle);
    }
}
END_TEST

TEST_MAIN("loop_mem")
