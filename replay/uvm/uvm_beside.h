/* uvm_beside: page touches of the same program, beside a recording of migrations (--touches FILE).
 *
 * Touches with their actors and repeats (a generated program, `synth -o`, derived from accesses) say all that the
 * closed loop asks for: every answer is its. First touches of each launch (`record --touches`) say which pages were
 * touched, but not which again after an eviction: they narrow what the recording alone proves (uvm_bounds.h). Either
 * must be of the recorded program: every page that faulted in the recording is touched, there are no more launches than
 * the recording has kernels, and where it names all its allocations nothing is touched outside of them; a larger
 * program at the same addresses is refused. Where the recording does not name them, touches of memory that it does not
 * show may be of memory without data or of a larger program: that is said. Where addresses differ, allocations are
 * matched in the order of their addresses if all sizes agree and each lies alike in its VA blocks. */
#ifndef REPLAY_UVM_UVM_BESIDE_H
#define REPLAY_UVM_UVM_BESIDE_H

#include "replay/run/engine.h"
#include "replay/uvm/recording/uvm_bounds.h"
#include "trace/event/actor.h"

/* The job's input of role "touches", or NULL. */
const struct input *uvm_beside_input(const struct replay_job *job);

/* Whether they are first touches only. */
bool uvm_beside_first_only(const struct input *touches);

/* First touches narrow what is known. The file may be of a part of the program: then they only add to it. */
int uvm_beside_narrow(struct uvm_known *known, const struct input *touches, struct outcome *notes, size_t n,
                      struct err *err);

/* The recording of the job's first input, against touches with actors: -1 with *err set if they do not fit. What cannot
 * be told is said in the notes of the job's policies. */
int uvm_beside_fits(const struct replay_job *job, struct recording wanted, const struct actor_ops *ops,
                    const void *state, struct outcome *notes, struct err *err);

#endif
