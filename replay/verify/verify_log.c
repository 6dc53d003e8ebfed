#include "replay/verify/verify_log.h"

#include "replay/uvm/actor_trace.h"
#include "replay/uvm/uvm_fault_log.h"

static int count_row(void *ctx, const struct store_value *v, size_t n)
{
    (void)v, (void)n;
    ++*(int64_t *)ctx;
    return 0;
}

/* Its batches are as logged; it has no migrations to follow, but shows whether the prefetcher was at work. */
int verify_log(struct verify *v, struct store *store, struct err *err)
{
    struct actor_trace *trace = actor_trace_open(store, err);
    if (!trace)
        return -1;
    size_t n;
    const struct actor_alloc *allocs = actor_trace_ops.allocs(trace, &n);
    struct uvm_fault_log log;
    int64_t batches = 0, dropped = 0;
    int rc = uvm_fault_log_read(&log, store, allocs, n, err) ||
                     store_rows(store, "batches", count_row, &batches, err) ||
                     store_rows(store, "dropped", count_row, &dropped, err)
                 ? -1
                 : 0;
    actor_trace_close(trace);
    if (rc)
        return -1;
    outcome_int(&v->outcome, "batches", batches);
    outcome_note(&v->outcome,
                 "A driver's log of faults: batches are as logged, and there are no migrations to follow.");
    if (dropped)
        outcome_note(&v->outcome, "Parts of the log are missing; 'offchip info' says which.");
    uvm_fault_log_note(&log, &v->outcome);
    v->complete = store_complete(store) && !store_sample(store) && !dropped;
    return 0;
}
