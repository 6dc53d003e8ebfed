/* gpu_source: a parametric stream of one channel's requests from a GPU kernel: rate, L2 misses, row locality, banks,
 * write-backs and launches; synthetic, not the traffic of a program.
 *
 * Each request that leaves the interconnect picks one of n walkers. A miss moves the walker: with probability 1 - 1/c
 * to the next column of its row, else to a uniform bank, row (1 to 4095) and column; a hit repeats its place. A miss
 * evicts a dirty line with the probability that makes write-backs the share w of all DRAM bytes; write-backs have
 * walkers of their own. Requests come one per cycle at most, with the probability of the rate in each cycle, or in
 * bursts. */
#ifndef TRACE_WORKLOADS_PIM_GPU_SOURCE_H
#define TRACE_WORKLOADS_PIM_GPU_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/event/dram_addr.h"
#include "trace/event/record.h"
#include "trace/workloads/random.h"

struct gpu_character {
    const char *name;
    double rate;    /* requests per DRAM cycle and channel, all multiprocessors */
    double miss;    /* share of them that miss L2 */
    double columns; /* columns per visit of a row, mean */
    int walkers;
    double write_share;     /* of DRAM bytes */
    int writeback_bytes;    /* 32 to 128 */
    int window_guess;       /* requests in flight: first guess (set s) */
    int window;             /* from occupancy (sets o, l) */
    int burst_guess, burst; /* requests in a row; 1: none */
    int launch;             /* set l: requests per launch; 0: one launch */
    double launch_rate;     /* and their rate */
};

enum { GPU_WALKERS_MAX = 64 };

struct gpu_source {
    struct gpu_character character;
    struct random random;
    struct dram_addr walker[GPU_WALKERS_MAX], dirty[GPU_WALKERS_MAX];
    int64_t time;       /* of the next request */
    int64_t launch_gap; /* idle cycles between launches, in recorded times */
    uint64_t left;      /* requests of the pass */
    int in_launch, in_burst;
    uint32_t launches;
    bool pending_writeback, pending_end;
    double p_writeback;
};

void gpu_source_init(struct gpu_source *s, const struct gpu_character *c, uint64_t seed, uint32_t channel,
                     uint64_t requests, int64_t launch_gap);

/* The next record (a DRAM_READ, a DRAM_WRITEBACK, or a KERNEL_END mark); false at the end. id is left 0. */
bool gpu_source_next(struct gpu_source *s, struct record *record);

#endif
