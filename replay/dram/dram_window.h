/* dram_window: streams of requests that are no programs before the memory partition of one channel, closed loop.
 *
 * A stream has arrival times, and nothing in it says which request waits for which: MEM requests are issued when they
 * are ready (replay/dram/dram_source.h) and have a place in the window. What was issued stands before its
 * sub-partition's (bank mod 2) L2 to DRAM queues, of which one takes one request each DRAM cycle, classes in turn, PIM
 * first; then replay/dram/dram_partition.h. The write-back of a read goes with it. Requests marked as hits of L2 are
 * answered at once. The streams are those behind L2: interconnect and L2 are not in the way. */
#ifndef REPLAY_DRAM_DRAM_WINDOW_H
#define REPLAY_DRAM_DRAM_WINDOW_H

#include "replay/dram/dram_partition.h"
#include "replay/dram/dram_source.h"

enum { DRAM_SOURCES = 2 };

/* Handles of requests that were issued; `tail - head` wait. */
struct dram_issued {
    uint32_t *at;
    uint32_t head, tail, mask;
};

struct dram_window {
    struct dram_source *source; /* [sources] */
    int sources;
    struct dram_partition part;
    struct dram_issued issued[DRAM_SUBS][2]; /* by class */
    uint32_t most_pim;                       /* issued and not yet in the partition */
    int last_in[DRAM_SUBS];
    double core_cycles;         /* of a DRAM cycle */
    struct dram_latency *stats; /* [2]: done - issue */
    struct dram_latency *took;  /* [DRAM_TOOK]: the same, for --latencies; NULL: not wanted */
    struct dram_fate first;     /* of the first passes, by handle; NULL: not wanted. Else channel->fate is set too */
    bool kept[DRAM_SOURCES];
};

/* source and sources are set. Released after failure too. */
int dram_window_init(struct dram_window *w, const struct replay_job *job, const struct replay_policy *policy, int vcs,
                     struct err *err);
void dram_window_release(struct dram_window *w);

/* Run until every source has finished a pass, or `limit` cycles, or nothing can happen. Returns the cycles run. */
int64_t dram_window_run(struct dram_window *w, int64_t limit);

/* After the run: what is left of the first passes is kept too. */
void dram_window_keep(struct dram_window *w);

#endif
