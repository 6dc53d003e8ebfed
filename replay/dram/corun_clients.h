/* corun_clients: the programs of a co-run, from its inputs: of which class each is, on how many multiprocessors it
 * runs, together and alone, and how it is cut. What the rules are stands in replay/dram/corun_programs.c. */
#ifndef REPLAY_DRAM_CORUN_CLIENTS_H
#define REPLAY_DRAM_CORUN_CLIENTS_H

#include "replay/dram/dram_simulation.h"
#include "trace/program/cut.h"
#include "trace/program/program_adapter.h"
#include "trace/program/warp_slice.h"

struct corun_client {
    const char *name;
    struct program program;
    struct program_cut *cut;       /* of a GPU program */
    double *kept;                  /* run.kept */
    struct program_prefix *prefix; /* of a PIM program */
    struct warp_slice *middle;     /* of a GPU program of which a wave is too much */
    struct l2_warmup *remains;     /* run.remains, if they are not shared */
    struct dram_simulation_side run;
    struct workload_wish wish;
    uint32_t alone_sms;
    int64_t alone_cycles;
    double alone_rate; /* MEM requests into the controllers per DRAM cycle */
    uint64_t budget;   /* requests that it is cut to; 0: whole */
    double keeps;      /* of the launch latency, so that all of it keeps its share of the work */
    char left_out[200];
};

struct corun_clients {
    const struct replay_job *job;
    struct workload made[DRAM_PORTS]; /* opened for traces that a workload was written into */
    uint32_t made_count;
    struct corun_client side[DRAM_PORTS];
    uint32_t sides;
    uint64_t cut; /* requests; 0: whole */
    bool once;    /* collaborative */
    bool repeat;
};

/* Whether all inputs are generated programs, or traces that such a program was written into: 1 or 0, -1 without memory.
 */
int corun_clients_are(const struct replay_job *job, struct err *err);

/* From p->job; all else is zeroed. -1 with *err set; released after failure too. */
int corun_clients_find(struct corun_clients *p, struct err *err);
void corun_clients_release(struct corun_clients *p);

/* "`what`", and everything that a run of side s alone depends on; NULL: no memory. Freed by the caller. */
char *corun_clients_text(const struct corun_clients *p, uint32_t s, const char *what);

#endif
