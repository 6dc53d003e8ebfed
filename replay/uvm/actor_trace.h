/* actor_trace: a trace of TOUCH records as actors again.
 *
 * Reads the whole stream once: the touches of each launch are kept by actor, 24 bytes each, so that several runs may
 * go over them in parallel. What was written by actor_writer runs as the workload itself would. In a trace without the
 * KERNEL records of generated launches a launch is a change of `group`, and 64 actors are resident on a multiprocessor.
 * Touches of one actor with equal `time` are one step. */
#ifndef REPLAY_UVM_ACTOR_TRACE_H
#define REPLAY_UVM_ACTOR_TRACE_H

#include "trace/event/actor.h"
#include "trace/store/store.h"

struct actor_trace;

/* NULL with *err set if there is none, or it cannot be read. The store may be closed afterwards. */
struct actor_trace *actor_trace_open(struct store *store, struct err *err);
void actor_trace_close(struct actor_trace *trace);

/* The state is the actor_trace. */
extern const struct actor_ops actor_trace_ops;

#endif
