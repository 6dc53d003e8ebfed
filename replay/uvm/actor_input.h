/* actor_input: what touches pages, of an input: a program, a recording of accesses, a trace of touches.
 *
 * Every engine that asks what unified memory costs an input opens it here, so that all of them run the same actors. */
#ifndef REPLAY_UVM_ACTOR_INPUT_H
#define REPLAY_UVM_ACTOR_INPUT_H

#include "replay/derive/derive.h"
#include "replay/run/engine.h"
#include "replay/uvm/actor_trace.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/event/actor.h"
#include "trace/event/actor_tracks.h"
#include "trace/program/pages.h"

struct actor_input {
    const struct actor_ops *ops;
    const void *state;
    const struct store *store; /* that they were read from: the input's; NULL: generated */
    /* The rest is its own. */
    struct program program;
    struct program_pages *pages;
    struct derive_input accesses;
    struct store *view; /* of the accesses, that the trace was read from */
    struct actor_trace *trace;
    struct actor_tracks *tracks; /* of the program; NULL: its steps are not kept */
};

/* Whether the input has pages to touch: a program with that view, accesses, or touches. A recording of migrations has
 * not. */
bool actor_input_is(const struct input *input);

/* What the uvm engine finds in a trace. */
enum uvm_stored {
    UVM_STORED_OTHER,     /* no pages, but perhaps accesses; also without a trace */
    UVM_STORED_TOUCHES,   /* page touches */
    UVM_STORED_FAULT_LOG, /* a driver's log of faults (uvm_fault_log.h), and touches made of it */
    UVM_STORED_RECORDING  /* migrations to the GPU, and no touches */
};

enum uvm_stored uvm_stored(const struct store *store);

/* Fails where there is nothing that touches pages; *err says what there is. The input must stay open, and *t where it
 * is. Nothing to close after a failure. */
int actor_input_open(struct actor_input *t, const struct input *input, struct err *err);
/* The same of a program that is at hand. */
int actor_input_program(struct actor_input *t, const struct program *program, struct err *err);
/* So many runs of the same actors are to come: a program's steps are worked out once, where any would be asked for
 * again and they do not take too much memory. The answers are the same. */
void actor_input_keep(struct actor_input *t, size_t runs, int threads);
void actor_input_close(struct actor_input *t);

/* --- touches beside a recording --- */

/* Page touches of the same program, beside a recording of migrations (--touches FILE).
 *
 * With them every answer is the closed loop's. They must be of the recorded program: every page that faulted in the
 * recording is touched, there are no more launches than the recording has kernels, and where it names all its
 * allocations nothing is touched outside of them; a larger program at the same addresses is refused. Where the
 * recording does not name them, touches of memory that it does not show may be of memory without data or of a larger
 * program: that is said. Where addresses differ, allocations are matched in the order of their addresses if all sizes
 * agree and each lies alike in its VA blocks. */

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
