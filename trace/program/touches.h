/* touches: actors written to a trace: the stream "touches" with its extra columns, tables allocations and kernels.
 *
 * What replay/uvm/actor_trace.h reads again: a replay of the trace gives what a replay of the actors gives. */
#ifndef TRACE_PROGRAM_TOUCHES_H
#define TRACE_PROGRAM_TOUCHES_H

#include "trace/event/actor.h"
#include "trace/store/store.h"

/* wrote: called with the number of records of each batch; NULL: nobody counts. */
int touches_write(struct store *store, const struct actor_ops *ops, const void *state,
                  void (*wrote)(void *ctx, size_t records), void *ctx, struct err *err);

#endif
