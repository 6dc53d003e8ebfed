/* actor_input: opens an input as the actors that touch its pages. Every engine that needs unified memory's cost uses
 * it, so all run the same actors. */
#pragma once

#include "replay/derive/derive.h"
#include "replay/run/engine.h"
#include "trace/derived/recording.h"
#include "trace/event/actor.h"
#include "trace/event/actor_tracks.h"
#include "trace/program/pages.h"

/* What unified memory finds in an input. */
enum uvm_input {
    UVM_INPUT_OTHER,     /* nothing that touches pages */
    UVM_INPUT_PROGRAM,   /* a generated program with that view */
    UVM_INPUT_ACCESSES,  /* a recording of accesses */
    UVM_INPUT_TOUCHES,   /* page touches */
    UVM_INPUT_FAULT_LOG, /* a driver's log of faults (uvm_fault_log.h), and touches made of it */
    UVM_INPUT_RECORDING  /* migrations to the GPU; touches or accesses of the same program may stand beside them */
};

enum uvm_input uvm_input_of(const struct input *input);
/* The same of a trace; NULL: UVM_INPUT_OTHER. */
enum uvm_input uvm_input_stored(const struct store *store);

/* What touches pages in a trace, whatever migrations stand beside it: UVM_INPUT_ACCESSES, _TOUCHES, _FAULT_LOG or
 * _OTHER. */
enum uvm_input uvm_touching(const struct store *store);

struct actor_input {
    enum uvm_input kind;
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

/* Whether the input has pages to touch. A recording of migrations alone has not. */
bool actor_input_is(const struct input *input);

/* Fails where there is nothing that touches pages; *err says what there is. The input must stay open, and *t where it
 * is. Nothing to close after a failure. */
int actor_input_open(struct actor_input *t, const struct input *input, struct err *err);
/* The same of a program that is at hand. */
int actor_input_program(struct actor_input *t, const struct program *program, struct err *err);
/* So many runs of the same actors are to come: a program's steps are worked out once, where any would be asked for
 * again and they do not take too much memory. The answers are the same. */
void actor_input_keep(struct actor_input *t, size_t runs, int threads);
void actor_input_close(struct actor_input *t);

/* --- actor_trace: a trace of TOUCH records as actors --- */

/* Reads the whole stream once: the touches of each launch are kept by actor, so that several runs may go over them in
 * parallel. What actor_writer wrote runs as the workload itself would. Without the KERNEL records of generated launches
 * a launch is a change of `group`, and 64 actors are resident on a multiprocessor. Equal `time`: one step. */
struct actor_trace;

/* NULL with *err set if there is none, or it cannot be read. The store may be closed afterwards. */
struct actor_trace *actor_trace_open(struct store *store, struct err *err);
void actor_trace_close(struct actor_trace *trace);

/* The state is the actor_trace. */
extern const struct actor_ops actor_trace_ops;

/* --- page touches of the same program, beside a recording of migrations (--touches FILE) --- */

/* The job's input of role "touches", or NULL. */
const struct input *uvm_touches_input(const struct replay_job *job);

/* Whether touches are of the program recorded in the job's first input; -1 with *err set if they are not.
 *
 * Every page that faulted in the recording is touched, there are no more launches than the recording has kernels, and
 * where it names all its allocations nothing is touched outside of them. Where it does not, touches of memory that it
 * does not show may be of memory without data or of a larger program: the notes of the job's policies say so. Where
 * addresses differ, allocations are matched in the order of their addresses if sizes and places in VA blocks agree. */
int uvm_touches_fit(const struct replay_job *job, struct recording wanted, const struct actor_input *touches,
                    struct outcome *notes, struct err *err);
