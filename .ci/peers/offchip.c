/* usage: offchip STREAM POLICY [KEY=VALUE,..]   offchip's controller on a stream, all checks on, channel after channel
 *        offchip --write NAME CHANNELS REQUESTS STREAM   sequential, random, mixed, sparse; REQUESTS in all
 *
 * sequential: consecutive atoms of one channel of the gv100 map, one a cycle; random: any bank and row; mixed: random,
 * one third writes; sparse: random, one per 100 cycles. */
#include <string.h>

#include "models/dram/dram_platform.h"
#include "models/dram/dram_policy.h"
#include "stream.h"
#include "trace/base/random.h"
#include "models/base/sections.h"
#include "trace/base/param_value.h"

enum { CHANNELS = 256, RUNS = 5 };

static void write_stream(const char *name, uint32_t channels, uint32_t n, const char *path)
{
    struct random x = {1};
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(1);
    }
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = k / channels, atoms = i / 8;
        struct peer_request r = {.arrival = strcmp(name, "sparse") == 0 ? 100 * (int64_t)i : i,
                                 .channel = (uint8_t)(k % channels)};
        if (strcmp(name, "sequential") == 0) {
            r.row = 1 + atoms / 128 % 8191;
            r.column = (uint16_t)(atoms / 2 % 8 * 8 + i % 8);
            r.bank = (uint8_t)(atoms / 16 % 8 * 2 + (atoms & 1));
        } else {
            r.row = 1 + random_below(&x, 8191);
            r.column = (uint16_t)random_below(&x, 64);
            r.bank = (uint8_t)random_below(&x, 16);
            r.write = strcmp(name, "mixed") == 0 && random_below(&x, 3) == 0;
        }
        fwrite(&r, sizeof r, 1, f);
    }
    fclose(f);
}

struct line {
    struct dram_request *requests;
    uint32_t n;
};

/* Seconds of one channel; *cycles becomes its last. */
static double run(const struct line *line, const struct dram_policy *policy, const struct dram_platform *platform,
                  int64_t *cycles)
{
    struct err err = {""};
    struct dram_channel *channel = aligned_alloc(64, sizeof *channel);
    void *state = calloc(1, policy->head.state_size);
    if (!channel || !state || (policy->head.params && (param_defaults(policy->head.params, state), 0)))
        exit(1);
    struct dram_feed feed = {.requests = line->requests, .count = line->n, .vcs = 1, .limit = INT64_MAX};
    const double start = peer_seconds();
    const int failed = dram_channel_init(channel, platform, &err);
    if (!failed)
        policy->loops->feed(channel, state, &feed);
    const double seconds = peer_seconds() - start;
    if (failed || dram_channel_check(channel, true, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    *cycles = feed.cycles > *cycles ? feed.cycles : *cycles;
    free(channel);
    free(state);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--write") == 0) {
        write_stream(argv[2], (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]), argv[5]);
        return 0;
    }
    const struct dram_policy *policy = argc >= 3 ? (const struct dram_policy *)policy_find(dram_policies, argv[2]) : NULL;
    if (!policy)
        return 2;
    struct dram_platform platform;
    struct param_list list;
    struct err err = {""};
    param_defaults(dram_params, &platform);
    if (param_list_init(&list, argc > 3 ? argv[3] : "", &err) ||
        param_list_apply(&list, dram_params, &platform, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    size_t n;
    const struct peer_request *r = peer_read(argv[1], &n);
    static struct line lines[CHANNELS];
    for (int c = 0; c < CHANNELS; c++)
        lines[c].requests = malloc(n * sizeof *lines[c].requests);
    for (size_t i = 0; i < n; i++) {
        struct line *l = &lines[r[i].channel];
        l->requests[l->n++] = (struct dram_request){.arrival = r[i].arrival,
                                                    .row = r[i].row,
                                                    .column = r[i].column,
                                                    .bank = r[i].bank,
                                                    .flags = r[i].write ? 1 | DRAM_IS_WRITE : 1};
    }
    double best = 1e9;
    int64_t cycles = 0;
    for (int k = 0; k < RUNS; k++) {
        double seconds = 0;
        for (int c = 0; c < CHANNELS; c++)
            seconds += lines[c].n ? run(&lines[c], policy, &platform, &cycles) : 0;
        best = seconds < best ? seconds : best;
    }
    peer_print(n, cycles, best);
    return 0;
}
