/* Neighbour lists per second counted by each pattern on one core, lists of mean degree 30. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "models/policies.h"
#include "trace/graph/graph_generate.h"

enum { LISTS = 1 << 20, ROUNDS = 8 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count_lists(const struct zerocopy_pattern *pattern, const struct scan *scans, int rounds)
{
    struct pattern_view view = {.shape = SCAN_LISTS,
                                .reuse = pattern->default_reuse[SCAN_LISTS],
                                .base = 4096,
                                .element = 8,
                                .round = 16,
                                .block_warps = 4};
    struct err err = {""};
    struct pattern_counter *counter = pattern->counter_new(&view, &err);
    struct pattern_count count = {0};
    double start = seconds();
    for (int r = 0; r < rounds; r++) {
        for (size_t i = 0; i < LISTS; i += SCAN_BATCH)
            (void)pattern->count(counter, scans + i, SCAN_BATCH, &err);
        (void)pattern->finish(counter, &count, &err);
    }
    double took = seconds() - start;
    printf("%-8s %8.1f M lists/s  (%llu requests a round)\n", pattern->head.name, (double)rounds * LISTS / took / 1e6,
           (unsigned long long)mix_requests(&count.mix));
    pattern->counter_free(counter);
}

int main(void)
{
    static const struct zerocopy_pattern *const patterns[] = {&zerocopy_merged, &zerocopy_aligned, &zerocopy_chunk,
                                                              &zerocopy_naive};
    struct scan *scans = calloc(LISTS, sizeof *scans);
    if (!scans)
        return 1;
    uint64_t first = 0;
    for (uint64_t i = 0; i < LISTS; i++) {
        scans[i] = (struct scan){first, 1 + random_mix(i) % 59, i}; /* mean 30 */
        first += scans[i].count;
    }
    for (size_t p = 0; p < 4; p++)
        count_lists(patterns[p], scans, p == 3 ? 1 : ROUNDS);
    first = 0;
    for (uint64_t i = 0; i < LISTS; i++) {
        scans[i] = (struct scan){first, 16 + random_mix(i) % 29, i}; /* a line or longer, mean 30 */
        first += scans[i].count;
    }
    count_lists(&zerocopy_naive, scans, ROUNDS);
    free(scans);
    return 0;
}
