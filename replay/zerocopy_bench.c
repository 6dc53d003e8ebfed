/* Neighbour lists per second counted by each pattern on one core, lists of mean degree 30; and a whole BFS replay of
 * kron scale 22, k 16 (traversal and three patterns; making the graph is not counted), with the peak memory. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "models/zerocopy/pattern.h"
#include "replay/engine.h"
#include "trace/graph_generate.h"

enum { LISTS = 1 << 20, ROUNDS = 20 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void count_lists(const struct zerocopy_pattern *pattern, const struct scan *scans, int rounds)
{
    struct pattern_view view = {.shape = SCAN_LISTS,
                                .reuse = pattern->defaults[SCAN_LISTS],
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

static int replay_bfs(int scale)
{
    char spec[96];
    struct err err = {""};
    struct input input;
    struct replay_result result;
    bool usage;
    (void)snprintf(spec, sizeof spec, "synth:bfs,graph=kron,scale=%d,k=16,root=auto", scale);
    if (input_open(&input, spec, "", false, &err)) {
        (void)fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    struct replay_request request = {.engine = engine_find("zerocopy"),
                                     .policy_list = "naive,merged,aligned",
                                     .inputs = &input,
                                     .input_count = 1,
                                     .threads = 1};
    double start = seconds();
    int rc = replay_run(&request, &result, &usage, &err);
    double took = seconds() - start;
    struct rusage use;
    (void)getrusage(RUSAGE_SELF, &use);
    if (rc)
        (void)fprintf(stderr, "%s\n", err.msg);
    else
        printf("bfs, kron scale %d, k 16, naive,merged,aligned: %.2f s on one core, peak %.2f GiB\n", scale, took,
               (double)use.ru_maxrss / 1048576);
    if (!rc)
        replay_release(&result);
    input_close(&input);
    return rc != 0;
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
        scans[i] = (struct scan){first, 1 + graph_mix(i) % 59, i}; /* mean 30 */
        first += scans[i].count;
    }
    for (size_t p = 0; p < 4; p++)
        count_lists(patterns[p], scans, p == 3 ? 1 : ROUNDS);
    free(scans);
    return replay_bfs(22);
}
