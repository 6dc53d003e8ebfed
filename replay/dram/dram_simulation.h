/* dram_simulation: one run of programs on multiprocessors (models/gpu/sms.h) before one memory, under one policy. */
#pragma once

#include "replay/dram/dram_memory.h"
#include "trace/program/cut.h"

/* l2_warmup: the state that the work left out by a cut would leave in L2, gap by gap (trace/program/cut.h).
 *
 * A cut keeps the same blocks of every launch. Without the others their data would stay in L2 from launch to launch,
 * which the whole program's do not. So the rest goes through an L2 of the same shape, without time, before the
 * simulation. At a gap its lines enter the simulated L2, those used longest ago first. Lines that are not displaced
 * stay. Displaced written lines do not go back to DRAM; those of the work left out do instead. Source: caches warmed
 * without time between samples, as in Wunderlich et al., SMARTS, ISCA 2003. Differs: without L1, so lines that L1 holds
 * are used again; a sector written in part is readable; only the end of a gap is walked, sixteen times as many sector
 * accesses as L2 has sectors. */
struct l2_warmup;

/* Sector accesses that are walked of a gap. */
static inline uint64_t l2_warmup_sectors(int64_t l2_bytes)
{
    return 16 * (uint64_t)l2_bytes / L2_SECTOR;
}

/* l2: an empty one, used and left empty. offset: added to the program's addresses. resident, ctx: as in
 * trace/program/walk.h. NULL with *err set. */
struct l2_warmup *l2_warmup_new(const struct program_rest *rest, struct dram_l2 *l2, uint64_t offset,
                                uint64_t (*resident)(const void *ctx, const struct program_launch *launch),
                                const void *ctx, struct err *err);
void l2_warmup_free(struct l2_warmup *warmup); /* NULL is allowed */

/* What gap number *next and those behind it do to that L2, as far as the kept program has come to them: so many
 * launches have ended, and so many blocks of the one after them have begun. *next becomes the first gap ahead. */
void l2_warmup_put(const struct l2_warmup *warmup, uint32_t *next, uint64_t ended, uint64_t blocks, struct dram_l2 *l2);

/* A side: a program on multiprocessors of its own. */
struct dram_simulation_side {
    const struct program *program;
    enum dram_class class;
    uint32_t sms;
    int64_t launch_cycles;          /* core cycles from a launch's start to its first block */
    uint64_t offset;                /* added to its addresses */
    const double *kept_share;       /* by launch, as in struct sms_options */
    const struct l2_warmup *warmup; /* of the work that its cut leaves out; NULL: none */
};

struct dram_simulation {
    /* What is run; all must outlive the run. */
    const struct platform *platform;
    const struct replay_policy *policy;
    const struct replay_job *job; /* --explain, --commands; may be NULL */
    struct dram_simulation_side side[DRAM_PORTS];
    uint32_t sides;
    int vcs;
    bool repeat;                     /* a side that is done starts again until all are done once */
    int64_t limit;                   /* DRAM cycles */
    const struct progress *progress; /* cancelled? may be NULL */
    /* What came of it. */
    int64_t first_done[DRAM_PORTS];       /* DRAM cycles of the first pass, without counts.ends; -1: it did not end */
    struct sms_counts counts[DRAM_PORTS]; /* of the first pass, or as far as it came */
    struct dram_totals totals;            /* cycles, channels, and what is of the controllers */
    struct dram_memory_stats memory;
};

/* -1 with *err set. */
int dram_simulation_run(struct dram_simulation *run, struct err *err);
