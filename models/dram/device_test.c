/* Every shipped device against closed forms: latency of a channel without load, bandwidth of sequential reads, bound of
 * random ones, refresh. */
#include "models/base/platform.h"
#include "models/base/sections.h"
#include "models/dram/dram_platform.h"
#include "models/dram/dram_policy.h"
#include "models/gpu/gpu.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"
#include "trace/base/testing.h"
#include "trace/event/dram_map.h"

enum { MOST = 40000 };

static struct dram_request requests[MOST];
static int64_t done[MOST];
static struct dram_channel channel;

/* Runs the first n requests; returns the cycles from 0 to the last data. */
static int64_t run(const struct dram_platform *hw, uint32_t n)
{
    static uint32_t ids[MOST];
    const struct dram_policy *p = (const struct dram_policy *)policy_find(dram_policies, "frfcfs");
    struct err err = {""};
    void *state = calloc(1, p->head.state_size);
    ck_assert_msg(!dram_channel_init(&channel, hw, &err), "%s", err.msg);
    channel.timestamps.done = done;
    struct dram_feed feed = {
        .requests = requests, .count = n, .ids = {ids, ids}, .ids_count = {n, 0}, .vcs = 1, .limit = INT64_MAX};
    p->loops->feed(&channel, state, &feed);
    free(state);
    ck_assert_msg(feed.finished && !dram_channel_check(&channel, true, &err), "%s", err.msg);
    return feed.cycles;
}

/* Calls fn for each platform that has a [dram] of its own. */
static void each(void (*fn)(const char *name, const struct dram_platform *hw, const struct gpu *gpu))
{
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = GIVES(platform_load(name, &err));
        if (platform_has(p, "dram"))
            fn(name, platform_section_get(p, "dram"), platform_section_get(p, "gpu"));
        platform_free(p);
    }
}

static struct dram_request read_of(int64_t arrival, uint32_t row, uint8_t bank)
{
    return (struct dram_request){.arrival = arrival, .row = row, .bank = bank, .flags = 1};
}

static void unloaded(const char *name, const struct dram_platform *of, const struct gpu *gpu)
{
    (void)gpu;
    struct dram_platform hw = *of;
    hw.refresh = DRAM_REFRESH_NONE;
    requests[0] = read_of(0, 1, 0); /* enters at 0 and is seen at 1 */
    requests[1] = read_of(10000, 1, 0);
    requests[2] = read_of(20000, 2, 0);
    run(&hw, 3);
    ck_assert_msg(done[0] == 1 + hw.rcd + hw.cl, "%s: %lld", name, (long long)done[0]);
    ck_assert_msg(done[1] == 10001 + hw.cl, "%s: %lld", name, (long long)done[1]);
    ck_assert_msg(done[2] == 20001 + hw.rp + hw.rcd + hw.cl, "%s: %lld", name, (long long)done[2]);
}

START_TEST(a_read_without_load_takes_what_its_commands_take)
{
    each(unloaded);
}
END_TEST

/* The first n atoms of channel 0 in a sequential walk over all of them. */
static void walk(const struct dram_platform *hw, uint32_t n)
{
    struct dram_map map;
    ck_assert_int_eq(dram_map_init(&map, hw->map, NULL), 0);
    uint64_t addr = 0;
    for (uint32_t i = 0; i < n; addr += (uint64_t)hw->atom_bytes) {
        const struct dram_addr a = dram_map_decode(&map, addr);
        if (a.channel == 0)
            requests[i++] = read_of(0, a.row, (uint8_t)a.bank);
    }
}

/* Bytes a second of all channels. */
static double rate(const struct dram_platform *hw, uint32_t n, int64_t cycles)
{
    return (double)hw->channels * (double)hw->atom_bytes * (double)n * (double)hw->clock_hz / (double)cycles;
}

static double peak(const struct dram_platform *hw)
{
    return (double)(hw->channels * hw->atom_bytes) * (double)hw->clock_hz / (double)hw->burst_cycles;
}

/* Within 1 % of the clock's bandwidth, less the time of refreshes of all banks: from the last column before to the
 * first after are tRTP, tRP, tRFC, tRCD. Of the paper's controller within 2 %: as many requests enter as leave, one a
 * cycle, so that what opens the next row is seen late. */
static void sequential(const char *name, const struct dram_platform *of, const struct gpu *gpu)
{
    struct dram_platform hw = *of;
    walk(&hw, MOST);
    hw.refresh = DRAM_REFRESH_NONE;
    const int64_t cycles = run(&hw, MOST);
    const double without = rate(&hw, MOST, cycles) / peak(&hw);
    ck_assert_msg(without > (hw.burst_cycles == 1 ? 0.98 : 0.99) && without <= 1, "%s: %.4f of the clock's bandwidth",
                  name, without);
    ck_assert_msg(peak(&hw) / gpu->dram_bytes_per_s > 0.97 && peak(&hw) / gpu->dram_bytes_per_s < 1.03, "%s", name);
    if (!of->refi)
        return;
    hw.refresh = DRAM_REFRESH_ALL;
    const double with = rate(&hw, MOST, run(&hw, MOST)) / peak(&hw);
    const int64_t rp = hw.rpab ? hw.rpab : hw.rp, rtp = hw.rtp ? hw.rtp : hw.burst_cycles;
    const double lost = (double)((rtp + rp + hw.rfc + hw.rcd) * channel.stats.refreshes);
    const double less = without * (double)cycles / ((double)cycles + lost);
    ck_assert_msg(channel.stats.refreshes >= 5, "%s", name);
    ck_assert_msg(with / less > 0.99 && with / less < 1.01, "%s: %.4f with refresh, expected %.4f", name, with, less);
    if (getenv("SHOW"))
        printf("%-12s without %.4f all %.4f of %.4f\n", name, without, with, less);
    hw.refresh = of->refresh;
    const double own = rate(&hw, MOST, run(&hw, MOST)) / peak(&hw);
    if (getenv("SHOW"))
        printf("%-12s own %.4f\n", name, own);
    /* Bank by bank the walk stands still for each refresh at worst, where it needs that bank, and for none at best. */
    const double still =
        of->refresh == DRAM_REFRESH_ALL ? lost : (double)((rtp + hw.rp + hw.rfcb + hw.rcd) * channel.stats.refreshes);
    ck_assert_msg(own >= 0.99 * without * (double)cycles / ((double)cycles + still) && own <= without,
                  "%s: %.4f of the clock's bandwidth", name, own);
}

START_TEST(sequential_reads_have_the_clocks_bandwidth_less_refresh)
{
    each(sequential);
}
END_TEST

/* A row each, banks at random: no more than four in tFAW, one in tRRD and one of a bank in tRC. */
static void at_random(const char *name, const struct dram_platform *of, const struct gpu *gpu)
{
    (void)gpu;
    struct dram_platform hw = *of;
    hw.refresh = DRAM_REFRESH_NONE;
    struct random x = {7};
    for (uint32_t i = 0; i < MOST; i++)
        requests[i] = read_of(0, random_below(&x, (uint32_t)hw.rows), (uint8_t)random_below(&x, (uint32_t)hw.banks));
    const int64_t cycles = run(&hw, MOST);
    const double faw = (double)hw.faw / 4,
                 bank = (double)(hw.ras + hw.rp > hw.rc ? hw.ras + hw.rp : hw.rc) / (double)hw.banks;
    double least = (double)hw.rrd > faw ? (double)hw.rrd : faw;
    least = bank > least ? bank : least;
    least = (double)hw.burst_cycles > least ? (double)hw.burst_cycles : least;
    const double share = least * (double)channel.stats.activates / (double)cycles;
    if (getenv("SHOW"))
        printf("%-12s random %.4f of the bound of %.2f cycles\n", name, share, least);
    ck_assert_msg(share <= 1 && share > 0.5, "%s: %.3f of the bound, %.2f cycles a row", name, share, least);
}

START_TEST(random_reads_keep_the_bound_of_tfaw_and_trc)
{
    each(at_random);
}
END_TEST

START_TEST(a_channel_at_rest_is_refreshed_for_as_long_as_it_rests)
{
    struct dram_platform hw;
    param_defaults(dram_params, &hw);
    for (int64_t refresh = DRAM_REFRESH_ALL; refresh <= DRAM_REFRESH_BANK; refresh++) {
        hw.refresh = refresh, hw.refi = 3200, hw.rfc = 200, hw.rfcb = 100, hw.rrefd = 8;
        const int64_t interval = refresh == DRAM_REFRESH_ALL ? 3200 : 200, far = INT64_C(1) << 40;
        requests[0] = read_of(0, 1, 0);
        requests[1] = read_of(far, 1, 0);
        run(&hw, 2);
        ck_assert_int_eq(channel.stats.refreshes, (far + 1 - 1) / interval);
        /* Its row is closed by the refresh: no hit in time, though the row register still matches. */
        ck_assert_int_ge(done[1], far + 1 + hw.rcd + hw.cl);
        ck_assert_int_le(done[1], far + 1 + hw.rfc + hw.rcd + hw.cl);
    }
}
END_TEST

/* Bank by bank every 200 cycles, each away for 350: refresh k, from 1, is of bank (k - 1) mod 16 at cycle 200 k. */
START_TEST(a_bank_refreshed_before_the_last_one_is_still_away)
{
    struct dram_platform hw;
    param_defaults(dram_params, &hw);
    hw.refresh = DRAM_REFRESH_BANK, hw.refi = 3200, hw.rfcb = 350, hw.rrefd = 8;
    const int64_t k = 16 * 100000 + 3;
    requests[0] = read_of(0, 1, 0);
    requests[1] = read_of(200 * k + 20, 1, 1);
    run(&hw, 2);
    ck_assert_int_eq(done[1], 200 * (k - 1) + 350 + hw.rcd + hw.cl);
}
END_TEST

TEST_MAIN("device")
