/* dram_window: streams of requests that are no programs before the memory partition of one channel, closed loop.
 *
 * A stream has arrival times, and nothing in it says which request waits for which. A source is one side of a co-run on
 * one channel. Its requests are ready at their arrival (an offset from the start of the pass or of the launch); MEM
 * requests need a place in the window; PIM requests come at most one per pim_period into an input buffer. At a launch's
 * end everything must be done, then launch_gap cycles pass. When all is done the pass ends; a repeated pass starts
 * relaunch_gap later.
 *
 * What was issued stands before its sub-partition's (bank mod 2) L2 to DRAM queues, of which one takes one request each
 * DRAM cycle, classes in turn, PIM first; then replay/dram/dram_partition.h. The write-back of a read goes with it.
 * Requests marked as hits of L2 are answered at once. The streams are those behind L2: interconnect and L2 are not in
 * the way. */
#ifndef REPLAY_DRAM_DRAM_WINDOW_H
#define REPLAY_DRAM_DRAM_WINDOW_H

#include "replay/dram/dram_partition.h"

enum { DRAM_SOURCES = 2 };

struct dram_source {
    /* What it is: set by dram_source_init() and then constant. */
    const struct dram_request *requests; /* of one class, with write-backs behind their reads */
    uint32_t count;
    size_t work; /* requests that need an answer: not write-backs */
    enum dram_class class;
    int64_t window; /* in flight; INT64_MAX: not limited */
    int64_t period; /* least cycles between two requests */
    int64_t launch_gap, relaunch_gap;
    bool repeat;
    /* Where it is: */
    uint32_t next;    /* position of the next request */
    int64_t base;     /* cycle of the launch's start */
    int64_t offset;   /* arrival of the launch's first request */
    int64_t earliest; /* of the next request, by the period */
    bool drains;      /* a launch has ended: nothing before all is done */
    int64_t in_flight;
    size_t done;        /* of this pass */
    bool again;         /* in a later pass */
    int64_t first_done; /* cycle in which the first pass was done, -1: not yet */
    int64_t *issued;    /* cycle each request of the pass was issued, by position */
};

/* Take the class's requests of channel c. Arrays are the stream's; issued is the source's own. */
int dram_source_init(struct dram_source *s, const struct dram_stream *stream, uint32_t c, enum dram_class class,
                     struct err *err);
void dram_source_release(struct dram_source *s);

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
    uint32_t total;            /* requests of all sources */
    double core_cycles;        /* of a DRAM cycle */
    struct dram_latency *took; /* [DRAM_TOOK]: done - issue, for --latencies; NULL: not wanted */
};

/* source and sources are set. Released after failure too. The partition knows a request by its position in the first
 * source's requests, then in the second's; in a later pass by `total` more. */
int dram_window_init(struct dram_window *w, const struct replay_job *job, const struct replay_policy *policy, int vcs,
                     struct err *err);
void dram_window_release(struct dram_window *w);

/* Run until every source has finished a pass, or `limit` cycles, or nothing can happen. Returns the cycles run. */
int64_t dram_window_run(struct dram_window *w, int64_t limit);

#endif
