/* Skipping cycles changes nothing: random streams through the event loop and through the same channel stepped in every
 * cycle give the same cycles for every request and the same counters, under every policy: with other timings, bank
 * groups and queues, with caps of 0, 1 and 10^9, and late in time. */
#include "models/base/sections.h"
#include "models/dram/policy_testing.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"

enum { REQUESTS = 800, SEEDS = 40, LIMIT = 300000 };

/* Besides the defaults of every policy. */
static const char *const settings[][2] = {{"frfcfs-cap", "cap=1"},
                                          {"frfcfs-cap", "cap=1000000000"},
                                          {"frfcfs-modecap", "cap=16"},
                                          {"bliss", "interval=300"},
                                          {"bliss", "interval=700,bug=1"},
                                          {"gather-issue", "high=20,low=5"},
                                          {"f3fs", "mem_cap=16,pim_cap=64"},
                                          {"f3fs", "mem_cap=0,pim_cap=0"},
                                          {"f3fs", "mem_cap=1,pim_cap=1000000000"},
                                          {"f3fs", "mem_cap=64,pim_cap=8,count=requests"}};

/* Mixes of every kind: one bank, few rows, MEM and PIM in the same rows, bursts, write-backs, sparse, long phases
 * without PIM requests, which are of 16 banks. */
static void make(struct dram_request *r, struct random *x, uint32_t of)
{
    const uint32_t kind = random_below(x, 8), rows = 1 + random_below(x, 6), pim_row = kind == 2 ? 1 : 4096;
    const uint32_t banks = kind == 1 ? 1 : 1 + random_below(x, of), op = 1 + random_below(x, 24);
    const uint32_t pims = random_below(x, 3) ? random_below(x, 100) : random_below(x, 3);
    const uint32_t writes = random_below(x, 3) ? random_below(x, 100) : 0;
    const uint32_t gap = 1 + random_below(x, random_below(x, 4) == 0 ? 40 : 3);
    int64_t t = random_below(x, 4) ? 0 : INT64_C(1) << 40;
    for (uint32_t i = 0, pim = 0; i < REQUESTS; i++) {
        if (kind == 3)
            t += i % 64 == 0 ? 800 : 0;
        else if (kind == 5)
            t += random_below(x, 3) ? 0 : random_below(x, 150);
        else if (random_below(x, gap) == 0)
            t += random_below(x, 2 * gap);
        const bool write = random_below(x, 100) < writes;
        const bool last = kind == 7 && i >= REQUESTS - 20; /* PIM requests, after the last MEM request has entered */
        t += last ? 300 : 0;
        if (of == 16 && (last || (kind == 6 ? i / 100 % 2 : random_below(x, 100) < pims)))
            r[i] = (struct dram_request){t, pim_row + pim++ / op % rows, 0, 8, TEST_PIM};
        else if (kind == 4 && write)
            r[i] = (struct dram_request){t, 1 + random_below(x, rows), 0, (uint8_t)random_below(x, banks),
                                         (uint8_t)((1 + random_below(x, 4)) | DRAM_IS_WRITE | DRAM_IS_POSTED)};
        else
            r[i] = (struct dram_request){t, 1 + random_below(x, rows), 0, (uint8_t)random_below(x, banks),
                                         write ? TEST_WR : TEST_RD};
    }
}

/* Timings that no board has, but for every fourth seed. */
static struct dram_platform platform_of(struct random *x, int seed)
{
    struct dram_platform p;
    param_defaults(dram_params, &p);
    if (seed % 4 == 0)
        return p;
    p.bank_groups = 1 << random_below(x, 5);
    p.queue = random_below(x, 3) ? 64 : 1 + random_below(x, random_below(x, 2) ? 64 : 256);
    p.burst_cycles = 1 + random_below(x, 3);
    p.ccd = 1 + random_below(x, 4);
    p.ccdl = 1 + random_below(x, 8);
    p.rrd = 1 + random_below(x, 8);
    p.wl = 1 + random_below(x, 6);
    p.rcd = p.wl + 2 + random_below(x, 30);
    p.cl = p.wl + random_below(x, 20);
    p.ras = 1 + random_below(x, 60);
    p.rp = 1 + random_below(x, 30);
    p.rc = 1 + random_below(x, seed % 4 == 1 ? 300 : 90);
    p.cdlr = 1 + random_below(x, 8);
    p.wr = 1 + random_below(x, 20);
    p.rtpl = 1 + random_below(x, 9);
    return p;
}

/* The same with rules beyond the paper's and refresh: none, of all banks, bank by bank. */
static struct dram_platform device_of(struct random *x, int seed)
{
    struct dram_platform p = platform_of(x, seed);
    p.banks = seed % 5 == 0 ? 32 : seed % 5 == 1 ? 48 : 16;
    p.sids = p.banks / 16;
    p.ccdr = random_below(x, 8);
    p.faw = random_below(x, 2) * (10 + random_below(x, 40));
    p.rrdl = random_below(x, 2) * (p.rrd + random_below(x, 5)), p.wtrl = random_below(x, 2) * random_below(x, 16);
    p.rcdwr = random_below(x, 2) * (1 + random_below(x, 20)), p.rtp = random_below(x, 9);
    p.ppd = random_below(x, 5), p.command_bus = random_below(x, 2);
    p.act_bus = random_below(x, 5), p.pre_bus = random_below(x, 3), p.column_bus = random_below(x, 4);
    p.refresh = random_below(x, 3);
    p.rfc = 20 + random_below(x, 300), p.rfcb = 20 + random_below(x, 900), p.rrefd = 1 + random_below(x, 15);
    p.refi =
        p.refresh == DRAM_REFRESH_ALL ? 300 + p.rfc + random_below(x, 1000) : p.banks * (300 + random_below(x, 300));
    return p;
}

/* The first request from position i on that goes through virtual channel v. */
static uint32_t next_of(const struct dram_request *r, uint32_t i, int vcs, int v)
{
    while (i < REQUESTS && vcs == 2 && v != (r[i].flags & DRAM_IS_PIM) / DRAM_IS_PIM)
        i++;
    return i;
}

/* What the feed does, one cycle at a time. */
static void every_cycle(struct dram_channel *ch, const struct dram_policy *p, void *state, const struct dram_request *r,
                        int vcs)
{
    uint32_t head[2] = {next_of(r, 0, vcs, 0), next_of(r, 0, vcs, 1)};
    int last = 0;
    const int64_t from = r[0].arrival;
    for (int64_t t = from; t < from + LIMIT && ch->stats.out[0] + ch->stats.out[1] < REQUESTS; t++) {
        (void)p->loops->step(ch, state, t);
        ch->completion_head = ch->completion_tail;
        for (int k = 0; k < vcs; k++) {
            const int v = vcs == 1 ? 0 : k == 0 ? !last : last;
            const uint32_t i = head[v];
            if (i == REQUESTS || r[i].arrival > t ||
                !dram_channel_room(ch, r[i].flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM))
                continue;
            p->loops->push(ch, t, r[i].row, r[i].bank, r[i].flags, i);
            head[v] = next_of(r, i + 1, vcs, v);
            last = v;
            break;
        }
    }
}

static void compare(const struct dram_request *r, const char *const policy[2], int vcs, int seed)
{
    static struct dram_channel channel;
    static int64_t timestamps[4][REQUESTS];
    test_run_limited(policy[0], policy[1], r, REQUESTS, vcs, r[0].arrival + LIMIT);
    const struct dram_policy *p = (const struct dram_policy *)policy_find(dram_policies, policy[0]);
    struct param_list list;
    void *state = calloc(1, p->head.state_size);
    ck_assert_int_eq(param_list_init(&list, policy[1], NULL), 0);
    if (p->head.params)
        ck_assert_int_eq(param_list_apply(&list, p->head.params, state, NULL), 0);
    ck_assert_int_eq(dram_channel_init(&channel, test_platform, NULL), 0);
    memset(timestamps, 0xff, sizeof timestamps);
    channel.timestamps = (struct dram_timestamps){timestamps[0], timestamps[1], timestamps[2], timestamps[3]};
    every_cycle(&channel, p, state, r, vcs);
    const struct dram_stats *a = &test_stats, *b = &channel.stats;
    const bool idles = test_platform->refresh != DRAM_REFRESH_NONE; /* refreshes after a stall are not waited for */
    const char *const what = test_feed.finished ? "" : " (unfinished)";
    ck_assert_msg(memcmp(timestamps[0], test_enter, sizeof timestamps[0]) == 0 &&
                      memcmp(timestamps[1], test_sched, sizeof timestamps[1]) == 0,
                  "seed %d %s:%s vcs %d%s: entries or selections differ", seed, policy[0], policy[1], vcs, what);
    if (test_feed.finished)
        ck_assert_msg(memcmp(timestamps[2], test_column, sizeof timestamps[2]) == 0 &&
                          memcmp(timestamps[3], test_done, sizeof timestamps[3]) == 0,
                      "seed %d %s:%s vcs %d: columns or completions differ", seed, policy[0], policy[1], vcs);
    ck_assert_msg(a->drain == b->drain && a->conflicts == b->conflicts && a->slot_sum == b->slot_sum &&
                      a->switches[0] == b->switches[0] && a->hits[0] == b->hits[0] && a->hits[1] == b->hits[1] &&
                      (a->precharges == b->precharges || (idles && !test_feed.finished)),
                  "seed %d %s:%s vcs %d%s: counters differ", seed, policy[0], policy[1], vcs, what);
    param_list_release(&list);
    free(state);
}

static void compare_platforms(struct dram_platform of(struct random *x, int seed))
{
    static struct dram_request r[REQUESTS];
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct random x = {(uint64_t)seed};
        const struct dram_platform platform = of(&x, seed);
        test_platform = &platform;
        make(r, &x, (uint32_t)platform.banks);
        for (int vcs = 1; vcs <= 2; vcs++) {
            for (const struct policy_head *const *p = dram_policies; *p; p++)
                compare(r, (const char *const[2]){(*p)->name, ""}, vcs, seed);
            for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
                compare(r, settings[i], vcs, seed);
        }
    }
}

START_TEST(skipping_cycles_changes_nothing)
{
    compare_platforms(platform_of);
}
END_TEST

START_TEST(nor_on_devices_with_refresh)
{
    compare_platforms(device_of);
}
END_TEST

/* bug=1 of bliss stops some mixes for good: what was issued before ends all the same. */
START_TEST(a_stalled_run_ends_what_it_issued)
{
    static struct dram_request r[REQUESTS];
    int stalled = 0;
    test_platform = NULL;
    for (int seed = 1; seed <= 3 * SEEDS; seed++) {
        struct random x = {(uint64_t)seed};
        make(r, &x, 16);
        test_run_limited("bliss", "interval=300,bug=1", r, REQUESTS, 1, 0);
        stalled += test_feed.stuck;
        int64_t last = 0;
        for (int i = 0; i < REQUESTS; i++) {
            const struct dram_timing *tm = &test_channel.timing;
            const int64_t data = r[i].flags & DRAM_IS_WRITE ? tm->wl : tm->cl;
            ck_assert_int_eq(test_done[i], test_column[i] < 0 ? -1 : test_column[i] + data);
            last = test_done[i] > last ? test_done[i] : last;
        }
        ck_assert_int_ge(test_feed.cycles, last + 1);
    }
    ck_assert_int_gt(stalled, 0);
}
END_TEST

/* The write of bank 5 is alone; its ACT leaves the scan at 6, two selections at 8: of the reads that wait for tWTR bank
 * 5 is before bank 7. WR at 101 + 9, tWTR 6, CL 12. */
START_TEST(a_request_alone_leaves_the_scan_where_it_would_be)
{
    const struct dram_request r[] = {{0, 1, 0, 7, TEST_RD},
                                     {50, 1, 0, 7, TEST_RD},
                                     {100, 1, 0, 5, TEST_WR},
                                     {110, 1, 0, 5, TEST_RD},
                                     {111, 1, 0, 7, TEST_RD}};
    test_platform = NULL;
    test_run("frfcfs", "", r, 5, 1);
    ck_assert_int_eq(test_done[1], 51 + 12);
    ck_assert_int_eq(test_column[2], 110);
    ck_assert_int_eq(test_column[3], 116);
    ck_assert_int_eq(test_column[4], 117);
}
END_TEST

TEST_MAIN("loop")
