/* uvm_fault_log: decides for which policies a driver's log of faults (reader uvmeval) can be replayed.
 *
 * The log holds the first touch of every page, by uTLB, in order of arrival. That is a trace of touches unless a
 * prefetch hides touches or an eviction brings them back. With prefetching off and memory for everything any policy can
 * be replayed; with prefetching on only the stock one. Prefetching was off if at least one fault in twenty (our choice)
 * is of a page that the stock prefetcher would have brought with an earlier batch; stale entries cause a few. Source:
 * driver 545.23.06, uvm_perf_prefetch.c. */
#pragma once

#include "replay/run/outcome.h"
#include "trace/event/actor.h"
#include "trace/store/store.h"

enum uvm_log_prefetch { UVM_LOG_PREFETCH_OFF, UVM_LOG_PREFETCH_ON, UVM_LOG_PREFETCH_OPEN };

struct uvm_fault_log {
    uint64_t batches, faults; /* faults: distinct pages, summed over batches */
    uint64_t evictions;       /* records of them */
    uint64_t prefetched;      /* pages logged as prefetched */
    uint64_t would_bring;     /* pages that the stock prefetcher would have brought besides the faults */
    uint64_t against;         /* faults on such pages, of later batches */
    enum uvm_log_prefetch prefetch;
};

/* Whether a stream of a trace is such a log. */
bool uvm_fault_log_stream(const struct stream *stream);

/* Read it; the allocations are those of the trace's touches, laid out. */
int uvm_fault_log_read(struct uvm_fault_log *log, struct store *store, const struct actor_alloc *allocs, size_t n,
                       struct err *err);

/* One sentence on whether prefetching was off. */
void uvm_fault_log_note(const struct uvm_fault_log *log, struct outcome *outcome);
