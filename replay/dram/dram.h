/* dram: MEM and PIM requests through one memory controller per channel, under scheduling policies that can be swapped.
 *
 * Two front ends bring the requests to the controllers (models/dram/channel.h):
 * - direct: open loop with back-pressure (models/dram/dram_policy.h);
 * - corun: two sides, closed loop: programs through interconnect and L2 (replay/dram/corun_programs.c), streams with a
 *   window of outstanding requests (replay/dram/corun_streams.c). */
#pragma once

#include <stdint.h>

#include "models/base/platform.h"
#include "models/dram/channel.h"
#include "models/dram/dram_platform.h"
#include "models/dram/dram_policy.h"
#include "models/gpu/gpu.h"
#include "replay/run/engine.h"
#include "replay/run/input.h"
#include "replay/run/sweep_cache.h"

/* The requests of the dram engine's inputs, by channel and in order of arrival.
 *
 * An input that is a program (a recording of accesses, or a generated one) is taken through the platform's L2
 * (replay/derive/derive.h): its requests have no times.
 * Memory: 16 bytes per request and 8 for its id. Released with dram_stream_release(). */

/* Marks kept beside the flags of struct dram_request (models/dram/channel.h). */
enum {
    DRAM_L2_HIT = 64,     /* served by L2: goes as far as the L2 front, not to the controller */
    DRAM_LAUNCH_END = 128 /* the last request of a launch: everything is done before the next one begins */
};

struct dram_stream_channel {
    struct dram_request *requests;
    uint64_t *ids; /* as in the input; NULL where they are 0, 1, 2, ... */
    size_t count, cap, ids_cap;
    size_t class_count[2];
    uint32_t *class_ids[2]; /* positions by class, made by dram_stream_split() */
};

struct dram_stream {
    struct dram_stream_channel *channel;
    uint32_t channels; /* highest channel seen + 1 */
    size_t count, class_count[2];
    bool untimed; /* an input had no times: everything arrives at 0 */
};

/* Checks that the platform has PIM units. -1 with *err set if not. */
int dram_check_pim(const struct platform *platform, struct err *err);

/* Read every input of the given roles ("" matches any) into *stream; MEM before PIM where arrivals are equal.
 * roles: a bit for each input to be taken. -1 with *err set: what is wrong with which input. */
int dram_stream_load(struct dram_stream *stream, const struct input *inputs, size_t count, uint64_t take,
                     const struct platform *platform, struct progress *progress, struct err *err);
void dram_stream_release(struct dram_stream *stream);

/* Whether a trace has requests of its own. */
bool dram_stream_stored(const struct store *store);

/* Whether the input holds no requests of its own and is a program: they are derived. */
bool dram_stream_derives(const struct input *input);

/* Make class_ids of every channel. */
int dram_stream_split(struct dram_stream *stream, struct err *err);

enum dram_front { DRAM_FRONT_CORUN, DRAM_FRONT_DIRECT };

/* --set of the engine. */
struct dram_settings {
    int64_t front;            /* enum dram_front */
    int64_t vcs;              /* virtual channels */
    int64_t run_limit_cycles; /* 0: none */
    int64_t run_limit_factor; /* corun: limit = factor x the time alone; 0: none */
    int64_t launch_gap;       /* corun: idle DRAM cycles between launches; -1: the platform's launch latency */
    int64_t loop;             /* corun: 0 each side once, 1 repeat until both are done once, 2 as the workload says */
    int64_t mem2_sms;         /* corun of programs: multiprocessors of a second GPU program */
    const char *cut;          /* corun of programs: requests that each is cut to, "none": whole */
};

/* What one run of one policy gave, over all channels. */
struct dram_totals {
    struct dram_stats stats;  /* sums; last_out is the latest */
    int64_t cycles;           /* DRAM cycles, the longest channel's */
    int64_t class_cycles[2];  /* until the last completion of the (first pass of the) class; -1: never */
    int64_t alone_cycles[2];  /* the same of the class alone; -1: not run */
    size_t requests[2];       /* asked for, all channels */
    int64_t favoured[2];      /* corun: cycles in which a class goes first because the other is blacklisted */
    double simulated[2];      /* corun of programs of which one is cut: share of a side's work; < 0: unknown */
    double mem_arrival_ratio; /* corun: MEM arrival rate at the controller over that alone; < 0: unknown */
    uint32_t channels;        /* with requests */
    bool starved[2];          /* the class made no end within the limit */
    bool blacklists;          /* favoured is known */
    bool two_gpu_kernels;     /* corun: [1] of cycles, alone and starved is a second MEM side */
    bool stuck;               /* nothing could happen any more */
};

/* A copy of the policy's state, ready for one channel. Freed with free(). */
void *dram_state_new(const struct replay_policy *policy, struct err *err);

/* Nothing yet. */
struct dram_totals dram_totals_new(void);

void dram_stats_add(struct dram_stats *sum, const struct dram_stats *stats);

/* Add an open loop's channel: its stats, cycles, and the requests of each class. */
void dram_totals_add(struct dram_totals *totals, const struct dram_stats *stats, int64_t cycles,
                     const size_t requests[2]);

/* DRAM cycles at which a co-run ends whose longest side takes `alone`; INT64_MAX: it has no limit. */
int64_t dram_run_limit(const struct dram_settings *set, int64_t alone);

/* The metrics, and how they follow from what was counted. stream: NULL if the inputs were run as programs; simulation
 * (replay/dram/dram_simulation.h): NULL if they were not. */
struct dram_simulation;
extern const struct metric dram_metrics[];
void dram_metrics_fill(struct outcome *run, const struct replay_job *job, const struct dram_stream *stream,
                       const struct dram_simulation *simulation, const struct dram_totals *totals);

/* Warn that a side took fewer cycles than alone; control: cycles alone, but "`how`", as it ran here. */
void dram_note_faster(struct outcome *run, const char *side, int64_t cycles, int64_t alone, int64_t control,
                      const char *how);

/* --- dram_files: what --requests and --commands write, and what --explain prints. What fails to be written is found by
 * whoever opened the file ---
 *
 * --requests: what became of every request: policy,id,enter,sched,col,done. Rows stand in the order of the policies,
 * the channels, then of arrival; id is the input's, -1 stands for "never". Cycles are the DRAM clock's. Of a co-run,
 * whose sides repeat, it is the first pass of each side; requests served by L2 never enter.
 * --commands: docs/man/offchip-replay.1.scd has its columns; row is of ACT, RD, WR and PIM. */

/* --requests: timestamps of every request, by channel. */
struct dram_request_log {
    struct dram_timestamps *channel; /* NULL: none are kept */
    uint32_t channels;
};

int dram_request_log_init(struct dram_request_log *request_log, const struct dram_stream *stream, struct err *err);
void dram_request_log_release(struct dram_request_log *request_log);
void dram_request_log_clear(struct dram_request_log *request_log, const struct dram_stream *stream);

void dram_requests_head(FILE *file);
int dram_requests_write(FILE *file, const struct replay_policy *policy, const struct dram_stream *stream,
                        const struct dram_request_log *request_log, struct err *err);

/* What one channel's commands are written with; lives as long as the channel runs. */
struct dram_commands {
    FILE *file;
    uint32_t channel;
    const struct dram_stream_channel *requests; /* NULL: of no input's stream */
};

/* Every command of a channel that has not begun is written; nothing without --commands. Fill *log's channel and
 * requests first. */
void dram_commands_attach(struct dram_commands *log, struct dram_channel *channel, const struct replay_job *job);

/* Attach --explain to channel 0 of a run. requests: NULL if they have no numbers. */
void dram_explain_attach(struct dram_channel *channel, const struct replay_job *job, const struct replay_policy *policy,
                         const struct dram_stream_channel *requests);

/* --- front ends --- */

/* One policy through an open loop; totals of channels are added. request_log may be NULL. */
int dram_direct_run(const struct replay_job *job, const struct replay_policy *policy, const struct dram_stream *stream,
                    struct dram_request_log *request_log, struct dram_totals *totals, struct err *err);

/* Every policy in a closed loop: of streams of requests; of programs, if every input is one. */
int dram_corun_streams_replay(const struct replay_job *job, struct outcome *runs, struct err *err);
int dram_corun_programs_replay(const struct replay_job *job, struct outcome *runs, struct err *err);

/* Returns 1 if all inputs are generated programs or traces of such programs, else 0; -1 without memory. */
int dram_inputs_are_programs(const struct replay_job *job, struct err *err);

extern const struct engine engine_dram;

/* What a run writes besides its metrics: engine_options of struct replay_job. */
struct dram_options {
    int64_t explain;               /* --explain N: why to *explain_file for the first N commands; 0: of none */
    FILE *explain_file, *commands; /* --commands: every command of the only run; NULL: no */
};

static inline const struct dram_options *dram_options(const struct replay_job *job)
{
    static const struct dram_options none = {.explain = 0};
    return job->engine_options ? job->engine_options : &none;
}

/* The first line of --commands. */
void dram_commands_head(FILE *commands);
