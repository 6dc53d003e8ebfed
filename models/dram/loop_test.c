/* Skipping cycles changes nothing: random streams through the event loop and through the same channel stepped in every
 * cycle give the same cycles for every request and the same counters, under every policy. */
#include "models/dram/policy_testing.h"
#include "trace/workloads/random.h"

enum { REQUESTS = 800, SEEDS = 40, LIMIT = 300000 };

static const char *const policies[][2] = {{"fcfs", ""},
                                          {"mem-first", ""},
                                          {"pim-first", ""},
                                          {"frfcfs", ""},
                                          {"frfcfs-cap", "cap=32"},
                                          {"frfcfs-modecap", "cap=16"},
                                          {"bliss", "interval=300"},
                                          {"bliss", "interval=700,bug=1"},
                                          {"frrr-fcfs", ""},
                                          {"gather-issue", "high=20,low=5"},
                                          {"f3fs", "mem_cap=16,pim_cap=64"},
                                          {"f3fs", "mem_cap=64,pim_cap=8,count=requests"}};

/* Mixes of every kind: one bank, few rows, MEM and PIM in the same rows, bursts, write-backs, sparse. */
static void make(struct dram_request *r, struct random *x)
{
    const uint32_t kind = random_below(x, 6), rows = 1 + random_below(x, 6), pim_row = kind == 2 ? 1 : 4096;
    const uint32_t banks = kind == 1 ? 1 : 1 + random_below(x, 16), op = 1 + random_below(x, 24);
    const uint32_t pims = random_below(x, 100), writes = random_below(x, 100);
    const uint32_t gap = 1 + random_below(x, random_below(x, 4) == 0 ? 40 : 3);
    int64_t t = 0;
    for (uint32_t i = 0, pim = 0; i < REQUESTS; i++) {
        if (kind == 3)
            t += i % 64 == 0 ? 800 : 0;
        else if (random_below(x, gap) == 0)
            t += random_below(x, 2 * gap);
        const bool write = random_below(x, 100) < writes;
        if (random_below(x, 100) < pims)
            r[i] = (struct dram_request){t, pim_row + pim++ / op % rows, 0, 8, TEST_PIM};
        else if (kind == 4 && write)
            r[i] = (struct dram_request){t, 1 + random_below(x, rows), 0, (uint8_t)random_below(x, banks),
                                         (uint8_t)((1 + random_below(x, 4)) | DRAM_IS_WRITE | DRAM_IS_POSTED)};
        else
            r[i] = (struct dram_request){t, 1 + random_below(x, rows), 0, (uint8_t)random_below(x, banks),
                                         write ? TEST_WR : TEST_RD};
    }
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
    for (int64_t t = 0; t < LIMIT && ch->stats.out[0] + ch->stats.out[1] < REQUESTS; t++) {
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
    static int64_t fate[4][REQUESTS];
    test_run_limited(policy[0], policy[1], r, REQUESTS, vcs, LIMIT);
    const struct dram_policy *p = dram_policy_find(policy[0]);
    struct dram_platform platform;
    struct param_list list;
    void *state = calloc(1, p->head.state_size);
    param_defaults(dram_params, &platform);
    ck_assert_int_eq(param_list_init(&list, policy[1], NULL), 0);
    if (p->head.params)
        ck_assert_int_eq(param_list_apply(&list, p->head.params, state, NULL), 0);
    ck_assert_int_eq(dram_channel_init(&channel, &platform, NULL), 0);
    memset(fate, 0xff, sizeof fate);
    channel.fate = (struct dram_fate){fate[0], fate[1], fate[2], fate[3]};
    every_cycle(&channel, p, state, r, vcs);
    const struct dram_stats *a = &test_stats, *b = &channel.stats;
    const char *const what = test_feed.finished ? "" : " (unfinished)";
    ck_assert_msg(memcmp(fate[0], test_enter, sizeof fate[0]) == 0 && memcmp(fate[1], test_sched, sizeof fate[1]) == 0,
                  "seed %d %s:%s vcs %d%s: entries or selections differ", seed, policy[0], policy[1], vcs, what);
    if (test_feed.finished)
        ck_assert_msg(memcmp(fate[2], test_column, sizeof fate[2]) == 0 &&
                          memcmp(fate[3], test_done, sizeof fate[3]) == 0,
                      "seed %d %s:%s vcs %d: columns or completions differ", seed, policy[0], policy[1], vcs);
    ck_assert_msg(a->drain == b->drain && a->conflicts == b->conflicts && a->slot_sum == b->slot_sum &&
                      a->wait[0] == b->wait[0] && a->wait[1] == b->wait[1] && a->switches[0] == b->switches[0] &&
                      a->hits[0] == b->hits[0] && a->hits[1] == b->hits[1] && a->precharges == b->precharges,
                  "seed %d %s:%s vcs %d%s: counters differ", seed, policy[0], policy[1], vcs, what);
    param_list_release(&list);
    free(state);
}

START_TEST(skipping_cycles_changes_nothing)
{
    static struct dram_request r[REQUESTS];
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct random x = {(uint64_t)seed};
        make(r, &x);
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
            for (int vcs = 1; vcs <= 2; vcs++)
                compare(r, policies[p], vcs, seed);
    }
}
END_TEST

TEST_MAIN("loop", skipping_cycles_changes_nothing)
