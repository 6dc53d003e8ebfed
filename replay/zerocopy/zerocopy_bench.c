/* Neighbour lists per second counted by each pattern on one core, lists of mean degree 30; lookups per second that
 * caches of rows of all sizes are counted of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/policies.h"
#include "models/zerocopy/row_cache.h"
#include "trace/base/random.h"

enum { LISTS = 1 << 20, ROUNDS = 8, LOOKUPS = 20 << 20 };

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

/* Rows by about Zipf's law: the places' logarithms are even. */
static void count_rows(uint32_t bits)
{
    static const char *const names[] = {"lru", "lfu", "counted"};
    uint32_t *rows = calloc(LOOKUPS, sizeof *rows), *depths = calloc(LOOKUPS, sizeof *depths), distinct = 0;
    uint64_t *given = calloc(LOOKUPS, sizeof *given);
    struct random random = {bits};
    for (size_t i = 0; given && i < LOOKUPS; i++)
        given[i] = random_mix((1ULL << random_below(&random, bits)) +
                              random_below(&random, 1U << random_below(&random, bits)));
    double start = seconds();
    if (rows && depths && given && row_cache_number(given, LOOKUPS, rows, &distinct, NULL) == 0)
        printf("numbered %8.1f M lookups/s  (%u rows)\n", LOOKUPS / (seconds() - start) / 1e6, distinct);
    if (depths)
        memset(depths, 1, LOOKUPS * sizeof *depths); /* none of them pays for getting the memory */
    for (int c = 0; c < 3 && distinct; c++) {
        start = seconds();
        if (row_cache_numbered((enum row_cache)c, rows, LOOKUPS, distinct, depths, NULL) == 0)
            printf("%-8s %8.1f M lookups/s\n", names[c], LOOKUPS / (seconds() - start) / 1e6);
    }
    free(rows);
    free(depths);
    free(given);
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
    for (uint32_t bits = 16; bits <= 22; bits += 3)
        count_rows(bits);
    return 0;
}
