/* The loop gives every request the cycles that the reference gives it (models/dram/reference_testing.h). */
#include "models/dram/reference_testing.h"

#include "models/dram/dram_policy.h"
#include "trace/base/testing.h"
#include "trace/workloads/random.h"

enum { REQUESTS = 600, LIMIT = 200000 };

static struct dram_request requests[REQUESTS];
static int64_t fates[2][4][REQUESTS]; /* loop, reference */

static struct dram_fate fate_of(int who)
{
    memset(fates[who], 0xff, sizeof fates[who]);
    return (struct dram_fate){fates[who][0], fates[who][1], fates[who][2], fates[who][3]};
}

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
            t += random_below(x, 3000);
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

static void run_loop(const struct dram_platform *hw, const char *name, int vcs, struct dram_channel *ch)
{
    static struct dram_latency latency[2];
    static uint32_t ids[2][REQUESTS];
    uint32_t count[2] = {0, 0};
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const int class = (requests[i].flags & DRAM_IS_PIM) != 0;
        ids[class][count[class]++] = i;
    }
    struct err err = {""};
    const struct dram_policy *p = dram_policy_find(name);
    void *state = calloc(1, p->head.state_size);
    ck_assert_msg(!dram_channel_init(ch, hw, &err), "%s", err.msg);
    ch->fate = fate_of(0);
    struct dram_feed feed = {.requests = requests,
                             .count = REQUESTS,
                             .ids = {ids[0], ids[1]},
                             .ids_count = {count[0], count[1]},
                             .vcs = vcs,
                             .limit = LIMIT,
                             .latency = latency};
    p->loops->feed(ch, state, &feed);
    free(state);
    ck_assert_msg(!dram_channel_check(ch, feed.finished, &err), "%s", err.msg);
}

static void compare(const struct dram_platform *hw, enum reference_policy policy, int vcs, const char *what)
{
    static struct dram_channel ch;
    static struct reference c;
    struct err err = {""};
    static const char *const of[] = {"entry", "selection", "last column", "completion"};
    run_loop(hw, reference_policies[policy], vcs, &ch);
    reference_init(&c, hw, policy, requests, fate_of(1));
    reference_run(&c, REQUESTS, vcs, LIMIT);
    ck_assert_msg(!dram_watch_check(&c.watch, &err), "%s", err.msg);
    for (int i = 0; i < REQUESTS; i++)
        for (int f = 0; f < 4; f++)
            ck_assert_msg(fates[0][f][i] == fates[1][f][i], "%s, %s, vcs %d: %s of request %d at %lld, reference %lld",
                          what, reference_policies[policy], vcs, of[f], i, (long long)fates[0][f][i],
                          (long long)fates[1][f][i]);
    ck_assert_int_eq(ch.stats.hits[DRAM_MEM], c.hits);
    ck_assert_int_eq(ch.stats.activates, c.activates);
    ck_assert_int_eq(ch.stats.precharges, c.precharges);
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(ch.stats.switches[k], c.switches[k]);
}

START_TEST(the_papers_controller_is_the_reference)
{
    struct dram_platform hw;
    param_defaults(dram_params, &hw);
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct random x = {seed};
        char what[32];
        (void)snprintf(what, sizeof what, "seed %d", (int)seed);
        make(&x, 16, true);
        for (int policy = 0; policy < 4; policy++)
            for (int vcs = 1; vcs <= 2; vcs++)
                compare(&hw, (enum reference_policy)policy, vcs, what);
    }
}
END_TEST

TEST_MAIN("reference", the_papers_controller_is_the_reference)
