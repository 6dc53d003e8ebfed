/* The dram engine's controller, cycle-exact, checks on: requests/s and cycles/s of CPU time for one channel under f3fs,
 * on sequential, random, PIM, mixed and sparse streams of 400,000 requests (sparse 100,000), best of three runs; then
 * on the mixed stream under every policy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/base/sections.h"
#include "models/dram/dram_platform.h"
#include "models/dram/dram_policy.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"

enum { REQUESTS = 400000, SPARSE = 100000, RUNS = 3 };

static struct dram_request requests[REQUESTS];
static uint32_t ids[2][REQUESTS];

/* Consecutive atoms within one channel of the gv100 map: 8 columns, bank bit 0, 8 column groups, banks. */
static struct dram_request sequential(uint32_t k)
{
    const uint32_t r = k / 8;
    return (struct dram_request){.row = 1 + r / 128,
                                 .column = (uint16_t)(r / 2 % 8 * 8 + k % 8),
                                 .bank = (uint8_t)((r / 16 % 8) * 2 + (r & 1)),
                                 .flags = 1};
}

static struct dram_request pim(uint32_t k)
{
    return (struct dram_request){.row = 4096 + k / 16 % 3 * 256 + k / 384 % 256,
                                 .flags = 1 | DRAM_IS_WRITE | DRAM_IS_PIM};
}

static struct dram_request anywhere(struct random *r)
{
    return (struct dram_request){.row = 1 + random_below(r, 4095), .bank = (uint8_t)random_below(r, 16), .flags = 1};
}

static uint32_t fill(const char *name, struct random *r)
{
    struct dram_request walker[8];
    int64_t t = 0;
    for (int i = 0; i < 8; i++)
        walker[i] = anywhere(r);
    const uint32_t n = strcmp(name, "sparse") == 0 ? SPARSE : REQUESTS;
    for (uint32_t k = 0; k < n; k++) {
        struct dram_request *w = &walker[random_below(r, 8)];
        if (!random_chance(r, 0.7))
            *w = anywhere(r);
        w->flags = random_chance(r, 0.2) ? 1 | DRAM_IS_WRITE : 1;
        requests[k] = strcmp(name, "sequential") == 0 ? sequential(k)
                      : strcmp(name, "random") == 0   ? anywhere(r)
                      : strcmp(name, "pim") == 0      ? pim(k)
                      : strcmp(name, "mixed") == 0    ? (k & 1 ? pim(k / 2) : *w)
                                                      : *w;
        while (n == SPARSE && !random_chance(r, 0.05))
            t++;
        requests[k].arrival = n == SPARSE ? t++ : strcmp(name, "mixed") == 0 ? k / 2 : k;
    }
    return n;
}

static void run(const char *name, const char *policy_name)
{
    struct random r = {1};
    struct dram_platform platform;
    const struct dram_policy *policy = (const struct dram_policy *)policy_find(dram_policies, policy_name);
    struct dram_channel *channel = aligned_alloc(64, sizeof *channel);
    void *state = calloc(1, policy->head.state_size);
    if (!channel || !state)
        abort();
    param_defaults(dram_params, &platform);
    const uint32_t n = fill(name, &r);
    uint32_t count[2] = {0, 0};
    for (uint32_t i = 0; i < n; i++)
        ids[requests[i].flags / DRAM_IS_PIM & 1][count[requests[i].flags / DRAM_IS_PIM & 1]++] = i;
    struct dram_feed feed = {.requests = requests,
                             .count = n,
                             .ids = {ids[0], ids[1]},
                             .ids_count = {count[0], count[1]},
                             .vcs = 2,
                             .limit = INT64_MAX};
    double best = 1e9;
    for (int i = 0; i < RUNS; i++) {
        memset(state, 0, policy->head.state_size);
        param_defaults(policy->head.params, state);
        if (dram_channel_init(channel, &platform, NULL))
            abort();
        const clock_t start = clock();
        policy->loops->feed(channel, state, &feed);
        const double s = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = s < best ? s : best;
        if (dram_channel_check(channel, true, NULL))
            abort();
    }
    printf("dram %-14s %-10s %6.1f M requests/s %7.1f M cycles/s\n", policy_name, name, n / best / 1e6,
           (double)feed.cycles / best / 1e6);
    free(channel);
    free(state);
}

int main(void)
{
    static const char *const names[] = {"sequential", "random", "pim", "mixed", "sparse"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        run(names[i], "f3fs");
    for (size_t i = 0; dram_policies[i]; i++)
        run("mixed", dram_policies[i]->name);
    return 0;
}
