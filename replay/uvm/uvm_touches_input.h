/* uvm_touches_input: page touches of the same program, beside a recording of migrations (--touches FILE).
 *
 * With them every answer is the closed loop's. They must be of the recorded program: every page that faulted in the
 * recording is touched, there are no more launches than the recording has kernels, and where it names all its
 * allocations nothing is touched outside of them; a larger program at the same addresses is refused. Where the
 * recording does not name them, touches of memory that it does not show may be of memory without data or of a larger
 * program: that is said. Where addresses differ, allocations are matched in the order of their addresses if all sizes
 * agree and each lies alike in its VA blocks. */
#ifndef REPLAY_UVM_UVM_TOUCHES_INPUT_H
#define REPLAY_UVM_UVM_TOUCHES_INPUT_H

#include "replay/run/engine.h"
#include "replay/uvm/recording/uvm_recording.h"
#include "trace/event/actor.h"

/* The job's input of role "touches", or NULL. */
const struct input *uvm_touches_input(const struct replay_job *job);

/* Whether they are each launch's first touches (`record --touches`): not which pages are touched again after an
 * eviction. */
bool uvm_touches_first_only(const struct input *touches);

/* The recording of the job's first input, against the touches: -1 with *err set if they do not fit. What cannot be told
 * is said in the notes of the job's policies. */
int uvm_touches_fit(const struct replay_job *job, struct recording wanted, const struct actor_ops *ops,
                    const void *state, struct outcome *notes, struct err *err);

#endif
