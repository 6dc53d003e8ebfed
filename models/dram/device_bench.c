/* 100 million commands on the shipped devices, the checker of command traces on: mixed reads and writes, half of them
 * to rows that were just used, through refreshes of all banks and bank by bank. Prints commands, violations (none is
 * expected; the exit status says so) and requests a second of CPU time, by device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/base/platform.h"
#include "models/dram/dram_platform.h"
#include "models/dram/dram_policy.h"
#include "trace/base/random.h"

enum { REQUESTS = 1600000 };

static struct dram_request requests[REQUESTS];

static void fill(const struct dram_platform *hw, struct random *x)
{
    int64_t t = 0;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct dram_request *r = &requests[i];
        t += random_below(x, 5000) ? random_below(x, 8) : random_below(x, 60000);
        if (i >= 8 && random_below(x, 2))
            *r = requests[i - 1 - random_below(x, 8)];
        else
            *r = (struct dram_request){.row = random_below(x, (uint32_t)hw->rows),
                                       .bank = (uint8_t)random_below(x, (uint32_t)hw->banks)};
        r->arrival = t;
        r->flags = random_below(x, 3) ? 1 : 1 | DRAM_IS_WRITE;
    }
}

static int run(const char *name, const struct dram_platform *hw, int64_t *commands)
{
    static struct dram_channel channel;
    static uint32_t none;
    struct err err = {""};
    struct random x = {(uint64_t)hw->channels};
    const struct dram_policy *p = (const struct dram_policy *)policy_find(dram_policies, "frfcfs");
    void *state = calloc(1, p->head.state_size);
    if (!state || dram_channel_init(&channel, hw, &err)) {
        (void)fprintf(stderr, "%s: %s\n", name, err.msg);
        free(state);
        return -1;
    }
    fill(hw, &x);
    struct dram_feed feed = {.requests = requests,
                             .count = REQUESTS,
                             .ids = {&none, &none},
                             .ids_count = {REQUESTS, 0},
                             .vcs = 1,
                             .limit = INT64_MAX};
    const clock_t start = clock();
    p->loops->feed(&channel, state, &feed);
    const double s = (double)(clock() - start) / CLOCKS_PER_SEC;
    free(state);
    const int bad = dram_channel_check(&channel, feed.finished, &err);
    const struct dram_stats *stats = &channel.stats;
    const int64_t sum = stats->activates + stats->precharges + stats->columns + stats->refreshes;
    printf("%-12s refresh %-4s %10lld commands, %6lld refreshes, %5.2f million requests/s: %s\n", name,
           hw->refresh == DRAM_REFRESH_ALL ? "all" : "bank", (long long)sum, (long long)channel.stats.refreshes,
           REQUESTS / s / 1e6, bad ? err.msg : "no violation");
    *commands += sum;
    return bad;
}

int main(void)
{
    char name[64];
    int64_t commands = 0;
    int bad = 0;
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        const struct dram_platform *of = p && platform_has(p, "dram") ? platform_section_get(p, "dram") : NULL;
        for (int64_t refresh = DRAM_REFRESH_ALL; of && of->refi && refresh <= DRAM_REFRESH_BANK; refresh++) {
            struct dram_platform hw = *of;
            hw.refresh = refresh;
            if (refresh == DRAM_REFRESH_ALL || hw.rfcb)
                bad |= run(name, &hw, &commands);
        }
        platform_free(p);
    }
    printf("%lld commands\n", (long long)commands);
    return bad ? 1 : 0;
}
