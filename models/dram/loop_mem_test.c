/* The ways in which the loop hurries change nothing: streams of long runs of hits give the same counters, the same
 * latencies and the same end whether what becomes of each request is written down, which goes cycle by cycle
 * (loop_test.c compares that with every cycle stepped), or not. */
#include "models/dram/policy_testing.h"
#include "trace/base/random.h"

enum { REQUESTS = 3000, SEEDS = 400 };

static struct dram_request requests[REQUESTS];

/* Runs of one row over some banks in turn, `run` requests each; now and then something else. */
static void make(struct random *x)
{
    const uint32_t banks = 1 + random_below(x, 6), step = 1 + random_below(x, 5), run = 1 + random_below(x, 12);
    const uint32_t row = 1 + random_below(x, 300), base = random_below(x, 16);
    const uint32_t odd = random_below(x, 2) ? 0 : 1 + random_below(x, 40), gap = random_below(x, 3);
    const bool pims = random_below(x, 2), all = random_below(x, 4) == 0;
    int64_t t = random_below(x, 2) ? 0 : INT64_C(1) << 40;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        t += gap == 0 ? 0 : gap == 1 ? 1 : random_below(x, 3);
        const uint32_t lap = i / run / banks / row;
        const uint32_t bank = (base + (all ? lap * banks : 0) + i / run % banks * step) % 16;
        requests[i] = (struct dram_request){t, 1 + lap, 0, (uint8_t)bank, TEST_RD};
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

/* A run with what test_run() looks at, or without. */
static struct dram_channel *run(const struct dram_platform *platform, int vcs, struct dram_latency latency[2],
                                int64_t *fates, int64_t *cycles)
{
    static uint32_t ids[2][REQUESTS];
    static struct dram_channel channel[2];
    struct dram_channel *ch = &channel[fates != NULL];
    uint32_t count[2] = {0, 0};
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const int class = (requests[i].flags & DRAM_IS_PIM) != 0;
        ids[class][count[class]++] = i;
    }
    struct err err = {""};
    const struct dram_policy *p = dram_policy_find("frfcfs");
    void *state = calloc(1, p->head.state_size + 1);
    memset(ch, 0, sizeof *ch);
    ck_assert_msg(!dram_channel_init(ch, platform, &err), "%s", err.msg);
    ch->fate.done = fates;
    struct dram_feed feed = {.requests = requests,
                             .count = REQUESTS,
                             .ids = {ids[0], ids[1]},
                             .ids_count = {count[0], count[1]},
                             .vcs = vcs,
                             .limit = INT64_MAX,
                             .latency = latency};
    p->loops->feed(ch, state, &feed);
    ck_assert_msg(!dram_channel_check(ch, feed.finished, &err), "%s", err.msg);
    *cycles = feed.cycles;
    free(state);
    return ch;
}

START_TEST(runs_of_hits_are_what_their_cycles_are)
{
    static struct dram_latency latency[2][2];
    static int64_t done[REQUESTS];
    int64_t hurried = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct random x = {(uint64_t)seed};
        const struct dram_platform platform = platform_of(&x);
        make(&x);
        for (int vcs = 1; vcs <= 2; vcs++) {
            int64_t cycles[2];
            memset(latency, 0, sizeof latency);
            const struct dram_channel *a = run(&platform, vcs, latency[0], NULL, &cycles[0]);
            const struct dram_channel *b = run(&platform, vcs, latency[1], done, &cycles[1]);
            ck_assert_msg(cycles[0] == cycles[1], "seed %d vcs %d: %lld cycles, %lld", seed, vcs, (long long)cycles[0],
                          (long long)cycles[1]);
            ck_assert_msg(memcmp(&a->stats, &b->stats, sizeof a->stats) == 0, "seed %d vcs %d: counters differ", seed,
                          vcs);
            ck_assert_msg(memcmp(latency[0], latency[1], sizeof latency[0]) == 0, "seed %d vcs %d: latencies differ",
                          seed, vcs);
            int64_t sum = 0;
            for (int i = 0; i < REQUESTS; i++)
                sum += done[i] - requests[i].arrival;
            ck_assert_int_eq(sum, latency[0][0].sum + latency[0][1].sum);
            ck_assert(memcmp(&a->legal, &b->legal, sizeof a->legal) == 0);
            hurried += a->stats.hits[DRAM_MEM];
        }
    }
    ck_assert_int_gt(hurried, (int64_t)SEEDS * REQUESTS);
}
END_TEST

TEST_MAIN("loop_mem", runs_of_hits_are_what_their_cycles_are)
