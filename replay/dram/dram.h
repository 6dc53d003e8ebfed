/* dram: MEM and PIM requests through one memory controller per channel, under scheduling policies that can be swapped.
 *
 * Three front ends bring the requests to the controllers (models/dram/channel.h):
 * - direct: open loop with back-pressure (models/dram/feed.h);
 * - partition: the memory partition of the artifact, two clocks, L2 to DRAM queues, credits
 * (replay/dram/dram_partition.c);
 * - corun: two sides, closed loop: programs through interconnect and L2 (replay/dram/dram_programs.c), streams with a
 * window of outstanding requests (replay/dram/dram_corun.c).
 */
#ifndef REPLAY_DRAM_DRAM_H
#define REPLAY_DRAM_DRAM_H

#include "models/dram/dram_platform.h"
#include "models/dram/dram_policy.h"
#include "models/gpu/gpu.h"
#include "replay/dram/dram_latency.h"
#include "replay/dram/dram_stream.h"
#include "replay/run/engine.h"

enum dram_front { DRAM_FRONT_CORUN, DRAM_FRONT_DIRECT, DRAM_FRONT_PARTITION };

/* --set of the engine. */
struct dram_settings {
    int64_t front;            /* enum dram_front */
    int64_t vcs;              /* virtual channels */
    int64_t run_limit_cycles; /* 0: none */
    int64_t run_limit_factor; /* corun: limit = factor x the time alone; 0: none */
    int64_t launch_gap;       /* corun: idle DRAM cycles between launches; -1: the platform's launch latency */
    int64_t loop;             /* corun: 0 each side once, 1 repeat until both are done once, 2 as the workload says */
    int64_t mem_sms;          /* corun of programs: multiprocessors of the (first) GPU program; 0: those left */
    int64_t mem2_sms;         /* and of a second one */
    const char *cut;          /* corun of programs: requests that each is cut to, "none": whole */
};

/* What --latencies tells apart. */
enum dram_took { DRAM_TOOK_READ, DRAM_TOOK_WRITE, DRAM_TOOK_PIM, DRAM_TOOK_L2_HIT, DRAM_TOOK };

/* That of a request of a stream, if L2 does not answer it. */
static inline enum dram_took dram_took_of(uint8_t flags)
{
    return flags & DRAM_IS_PIM ? DRAM_TOOK_PIM : flags & DRAM_IS_WRITE ? DRAM_TOOK_WRITE : DRAM_TOOK_READ;
}

/* What one run of one policy gave, over all channels. */
struct dram_totals {
    struct dram_stats stats;   /* sums; last_out is the latest */
    struct dram_latency *took; /* [DRAM_TOOK], --latencies of a closed loop; else NULL */
    int64_t cycles;            /* DRAM cycles, the longest channel's */
    int64_t class_cycles[2];   /* until the last completion of the (first pass of the) class; -1: never */
    int64_t alone_cycles[2];   /* the same of the class alone; -1: not run */
    int64_t core_cycles;       /* partition only; else -1 */
    size_t requests[2];        /* asked for, all channels */
    int64_t favoured[2];       /* corun: cycles in which a class goes first because the other is blacklisted */
    double mem_arrival_ratio;  /* corun: MEM arrival rate at the controller over that alone; < 0: unknown */
    uint32_t channels;         /* with requests */
    bool starved[2];           /* the class made no end within the limit */
    bool blacklists;           /* favoured is known */
    bool two_gpu_kernels;      /* corun: [1] of cycles, alone and starved is a second MEM side */
    bool stuck;                /* nothing could happen any more */
};

/* A copy of the policy's state, ready for one channel. Freed with free(). */
void *dram_state_new(const struct replay_policy *policy, struct err *err);

/* Nothing yet. */
struct dram_totals dram_totals_new(void);

/* Add a channel's stats to the totals. */
void dram_stats_add(struct dram_stats *sum, const struct dram_stats *stats);

/* DRAM cycles at which a co-run ends whose longest side takes `alone`; INT64_MAX: it has no limit. */
int64_t dram_run_limit(const struct dram_settings *set, int64_t alone);

/* One policy through an open-loop front end. fates may be NULL. */
struct dram_fates;
int dram_direct_run(const struct replay_job *job, const struct replay_policy *policy, const struct dram_stream *stream,
                    struct dram_fates *fates, struct dram_totals *totals, struct err *err);
int dram_partition_run(const struct replay_job *job, const struct replay_policy *policy,
                       const struct dram_stream *stream, struct dram_fates *fates, struct dram_totals *totals,
                       struct err *err);

/* Every policy in a closed loop: of streams of requests; of programs, if every input is one (dram_sides_are()). */
int dram_corun_replay(const struct replay_job *job, struct outcome *runs, struct err *err);
int dram_programs_replay(const struct replay_job *job, struct outcome *runs, struct err *err);

extern const struct engine engine_dram;

#endif
