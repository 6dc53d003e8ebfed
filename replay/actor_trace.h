/* actor_trace: a trace of TOUCH records as actors again.
 *
 * Reads the whole stream once: the touches of each launch are kept by actor, eight bytes each, so that several runs may
 * go over them in parallel. What was written by actor_writer runs as the workload itself would. A trace derived from
 * recorded accesses has no KERNEL records of its own kind: its actors are then all resident at once as far as the GPU's
 * warps go, one touch is one step, and pages outside the recorded allocations belong to one allocation of their own. */
#ifndef REPLAY_ACTOR_TRACE_H
#define REPLAY_ACTOR_TRACE_H

#include "trace/actor.h"
#include "trace/store.h"

struct actor_trace;

/* Whether the trace has a stream with TOUCH records that actors can be made from. */
bool actor_trace_holds(struct store *store);

/* NULL with *err set if there is none, or it cannot be read. The store may be closed afterwards. */
struct actor_trace *actor_trace_open(struct store *store, struct err *err);
void actor_trace_close(struct actor_trace *trace);

/* The state is the actor_trace. */
extern const struct actor_ops actor_trace_ops;

#endif
