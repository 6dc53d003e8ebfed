/* dram_source: one side of a co-run on one channel: a GPU kernel's or a PIM kernel's requests, when each is ready, how
 * many may be in flight, where launches end, and what was done so far.
 *
 * A request is ready at its arrival (an offset from the start of the pass or of its launch); MEM requests need a place
 * in the window; PIM requests come at most one per pim_period into an input buffer. At a launch's end everything must
 * be done, then launch_gap cycles pass. When all is done the pass ends; a repeated pass starts relaunch_gap later. */
#ifndef REPLAY_DRAM_DRAM_SOURCE_H
#define REPLAY_DRAM_DRAM_SOURCE_H

#include "replay/dram/dram.h"

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
    bool ended;       /* no further pass */
    int64_t in_flight;
    size_t done; /* of this pass */
    int64_t passes;
    int64_t first_done; /* cycle in which the first pass was done, -1: not yet */
    int64_t *issued;    /* cycle each request of the pass was issued, by position */
};

/* Take the class's requests of channel c. Arrays are the stream's; issued is the source's own. */
int dram_source_init(struct dram_source *s, const struct dram_stream *stream, uint32_t c, enum dram_class class,
                     struct err *err);
void dram_source_release(struct dram_source *s);
/* Back to the start at cycle 0. */
void dram_source_rewind(struct dram_source *s);

/* The cycle from which the next request may be issued, if nothing else stands in the way; INT64_MAX: not before
 * something in flight is done. */
static inline int64_t dram_source_ready(const struct dram_source *s)
{
    if (s->next == s->count || s->drains || s->ended || s->in_flight >= s->window)
        return INT64_MAX;
    const int64_t at = s->base + s->requests[s->next].arrival - s->offset;
    return at > s->earliest ? at : s->earliest;
}

/* Request `next` is issued at cycle t (it must be ready); its write-back, if it has one, goes with it. Returns its
 * position. */
uint32_t dram_source_issue(struct dram_source *s, int64_t t);

/* A request (not a write-back) is answered at cycle t. */
void dram_source_answer(struct dram_source *s, int64_t t);

/* Whether a write-back stands behind request i. */
static inline bool dram_source_evicts(const struct dram_source *s, uint32_t i)
{
    return i + 1 < s->count && s->requests[i + 1].flags & DRAM_IS_POSTED;
}

#endif
