/* dram_simulation: one run of programs on multiprocessors (models/gpu/sms.h) before one memory, under one policy. */
#ifndef REPLAY_DRAM_DRAM_SIMULATION_H
#define REPLAY_DRAM_DRAM_SIMULATION_H

#include "replay/dram/dram_memory.h"
#include "replay/dram/dram_remains.h"

/* A side: a program on multiprocessors of its own. */
struct dram_simulation_side {
    const struct program *program;
    enum dram_class class;
    uint32_t sms;
    int64_t launch_cycles;              /* core cycles from a launch's start to its first block */
    uint64_t offset;                    /* added to its addresses */
    const double *kept;                 /* by launch, as in struct sms_options */
    const struct dram_remains *remains; /* of the work that its cut leaves out; NULL: none */
};

struct dram_simulation {
    /* What is run; all must outlive the run. */
    const struct platform *platform;
    const struct replay_policy *policy;
    const struct replay_job *job; /* --explain, --commands; may be NULL */
    struct dram_latency *took;    /* [DRAM_TOOK], --latencies; may be NULL */
    struct dram_simulation_side side[DRAM_PORTS];
    uint32_t sides;
    int vcs;
    bool repeat;                     /* a side that is done starts again until all are done once */
    int64_t limit;                   /* DRAM cycles */
    const struct progress *progress; /* cancelled? may be NULL */
    /* What came of it. */
    int64_t cycles;                       /* DRAM cycles */
    int64_t first_done[DRAM_PORTS];       /* DRAM cycles of the first pass, without counts.ends; -1: it did not end */
    struct sms_counts counts[DRAM_PORTS]; /* of the first pass, or as far as it came */
    struct dram_stats stats;              /* of the controllers */
    struct dram_memory_stats memory;
    int64_t favoured[2];
    bool blacklists, stuck;
};

/* -1 with *err set. */
int dram_simulation_run(struct dram_simulation *run, struct err *err);

#endif
