/* The loop gives every request the cycles that the reference gives it (models/dram/reference_testing.h). */
#include "models/dram/reference_testing.h"

#include "models/base/sections.h"
#include "models/dram/policy_testing.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"

enum { REQUESTS = 600, LIMIT = 200000 };

static struct dram_request requests[REQUESTS];
static int64_t timestamps[4][REQUESTS]; /* of the reference */

/* Mixes of every kind: one bank or all, few rows or many, long pauses, writes, write-backs of several atoms. */
static void make(struct random *x, int banks, bool pims)
{
    const uint32_t use = random_below(x, 4) == 0 ? 1 : 1 + random_below(x, (uint32_t)banks);
    const uint32_t rows = random_below(x, 3) == 0 ? 1000 : 1 + random_below(x, 6), writes = random_below(x, 100);
    const uint32_t share = pims && random_below(x, 4) ? random_below(x, 100) : 0, op = 1 + random_below(x, 24);
    const uint32_t gap = 1 + random_below(x, random_below(x, 3) == 0 ? 60 : 2),
                   burst = random_below(x, 3) == 0 ? 50 : 0;
    int64_t t = 0;
    for (uint32_t i = 0, pim = 0; i < REQUESTS; i++) {
        if (burst && i % burst == 0)
            t += random_below(x, random_below(x, 3) ? 2000 : 12000); /* up to many refreshes of closed banks */
        t += random_below(x, gap);
        const uint8_t write = random_below(x, 100) < writes ? DRAM_IS_WRITE : 0;
        requests[i] = (struct dram_request){
            .arrival = t, .row = 1 + random_below(x, rows), .bank = (uint8_t)random_below(x, use), .flags = 1 | write};
        if (write && random_below(x, 4) == 0)
            requests[i].flags = (uint8_t)((1 + random_below(x, 4)) | DRAM_IS_WRITE | DRAM_IS_POSTED);
        if (random_below(x, 100) < share) {
            requests[i].row = 4096 + pim++ / op % 7;
            requests[i].flags = 1 | DRAM_IS_WRITE | DRAM_IS_PIM;
        }
    }
}

static void compare(const struct dram_platform *hw, enum reference_policy policy, int vcs, const char *what)
{
    static struct reference c;
    static const int64_t *const loop[] = {test_enter, test_sched, test_column, test_done};
    static const char *const of[] = {"entry", "selection", "last column", "completion"};
    test_platform = hw;
    test_run_limited(reference_policies[policy], "", requests, REQUESTS, vcs, LIMIT);
    memset(timestamps, 0xff, sizeof timestamps);
    reference_init(&c, hw, policy, requests,
                   (struct dram_timestamps){timestamps[0], timestamps[1], timestamps[2], timestamps[3]});
    reference_run(&c, REQUESTS, vcs, LIMIT);
    WORKS(command_checker_check(&c.watch, &err));
    /* A PIM request's commands are known, and counted, when it is selected: at a run's limit that is early. */
    const bool finished = c.out[DRAM_MEM] + c.out[DRAM_PIM] == REQUESTS;
    for (int i = 0; i < REQUESTS; i++)
        for (int f = 0; f < (finished ? 4 : 2); f++)
            ck_assert_msg(loop[f][i] == timestamps[f][i], "%s, %s, vcs %d: %s of request %d at %lld, reference %lld",
                          what, reference_policies[policy], vcs, of[f], i, (long long)loop[f][i],
                          (long long)timestamps[f][i]);
    if (!finished)
        return;
    ck_assert_int_eq(test_stats.hits[DRAM_MEM], c.hits);
    ck_assert_int_eq(test_stats.activates, c.activates);
    ck_assert_int_eq(test_stats.precharges, c.precharges);
    const int64_t last = test_stats.refreshes - c.refreshes; /* one that is due may begin after the last request */
    ck_assert_msg(last >= -1 && last <= 1, "%s: %lld refreshes more", what, (long long)last);
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(test_stats.switches[k], c.switches[k]);
}

static void every_policy(const struct dram_platform *hw, const char *what)
{
    for (int policy = 0; policy < 4; policy++)
        for (int vcs = 1; vcs <= 2; vcs++)
            compare(hw, (enum reference_policy)policy, vcs, what);
}

START_TEST(the_papers_controller_is_the_reference)
{
    struct dram_platform hw;
    param_defaults(dram_params, &hw);
    for (uint64_t seed = 1; seed <= 8; seed += (uint64_t)testing_step()) {
        struct random x = {seed};
        const char *what = testing_text("seed %d", (int)seed);
        hw.banks = seed % 2 ? 16 : 8;
        make(&x, (int)hw.banks, hw.banks == 16);
        every_policy(&hw, what);
    }
}
END_TEST

static int64_t one_of(struct random *x, int64_t low, int64_t high)
{
    return low + random_below(x, (uint32_t)(high - low + 1));
}

/* Devices that nobody makes: every mechanism there or not, short and long, often refreshed. */
static struct dram_platform any_device(struct random *x, int64_t refresh)
{
    struct dram_platform hw;
    param_defaults(dram_params, &hw);
    static const int64_t banks[] = {8, 16, 16, 16, 32, 48};
    hw.banks = banks[random_below(x, 6)];
    hw.sids = hw.banks > 16 ? hw.banks / 16 : 1 + random_below(x, 2);
    hw.bank_groups = INT64_C(1) << random_below(x, hw.banks / hw.sids == 16 ? 4 : 3);
    hw.ccdr = one_of(x, 0, 7);
    hw.burst_cycles = one_of(x, 1, 3), hw.ccd = one_of(x, 1, 3), hw.ccdl = one_of(x, 1, 6);
    hw.rrd = one_of(x, 1, 6), hw.rrdl = one_of(x, 0, 9), hw.faw = one_of(x, 0, 1) * one_of(x, 10, 300);
    hw.rcd = one_of(x, 4, 30), hw.rcdwr = one_of(x, 1, 25), hw.rp = one_of(x, 5, 30), hw.ras = one_of(x, 10, 50);
    hw.rc = hw.ras + one_of(x, 0, 40), hw.rpab = random_below(x, 2) ? hw.rp + one_of(x, 0, 5) : 0;
    hw.wl = one_of(x, 1, 12), hw.cl = hw.wl + one_of(x, 1, 15);
    hw.cdlr = one_of(x, 1, 12), hw.wtrl = one_of(x, 0, 16), hw.wr = one_of(x, 1, 30);
    hw.rtw = hw.cl + hw.burst_cycles + one_of(x, 0, 3), hw.rtp = one_of(x, 1, 9), hw.rtpl = one_of(x, 0, 6);
    hw.ppd = one_of(x, 0, 4), hw.command_bus = random_below(x, 2);
    hw.act_bus = one_of(x, 0, 4), hw.pre_bus = one_of(x, 0, 2), hw.column_bus = one_of(x, 0, 3);
    hw.queue = 1 + random_below(x, random_below(x, 3) ? 64 : 256);
    hw.refresh = refresh;
    hw.rfc = one_of(x, 20, 300), hw.rfcb = one_of(x, 20, 900), hw.rrefd = one_of(x, 1, 15);
    hw.refi = refresh == DRAM_REFRESH_ALL ? 200 + hw.rfc + one_of(x, 0, 1000) : hw.banks * (200 + one_of(x, 0, 300));
    return hw;
}

static void fuzz(int64_t refresh, uint64_t seeds)
{
    for (uint64_t seed = 1; seed <= seeds; seed += (uint64_t)testing_step()) {
        struct random x = {seed * 3 + (uint64_t)refresh};
        const char *what = testing_text("refresh %d, seed %d", (int)refresh, (int)seed);
        const struct dram_platform hw = any_device(&x, refresh);
        make(&x, (int)hw.banks, hw.banks == 16); /* PIM requests are of 16 banks */
        every_policy(&hw, what);
    }
}

START_TEST(any_device_is_the_reference)
{
    fuzz(DRAM_REFRESH_NONE, 8);
}
END_TEST

START_TEST(with_refresh_of_all_banks_too)
{
    fuzz(DRAM_REFRESH_ALL, 8);
}
END_TEST

START_TEST(with_refresh_bank_by_bank_too)
{
    fuzz(DRAM_REFRESH_BANK, 16);
}
END_TEST

TEST_MAIN("reference")
