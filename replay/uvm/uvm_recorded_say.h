/* uvm_recorded_say: the part of uvm_recorded that writes an answer down: values, intervals, what has neither, the
 * parts, and the notes. Which answer it is, and what is proved of it, is decided before (replay/uvm/uvm_recorded.c). */
#ifndef REPLAY_UVM_UVM_RECORDED_SAY_H
#define REPLAY_UVM_UVM_RECORDED_SAY_H

#include "replay/uvm/uvm_recorded.h"

/* One run of the open loop with its tallies by part. */
struct uvm_looped {
    struct uvm_open_loop out;
    struct uvm_owners owners;
};

/* One answer being made. */
struct uvm_answered {
    const struct uvm_recorded_run *run;
    bool exact;
    struct uvm_looped own, other;   /* forced along the recording; in recorded order, if not exact */
    struct uvm_bounds *allocations; /* of each owner of pieces */
    struct uvm_bounds whole;
};

/* Fill the outcome. */
int uvm_recorded_say(const struct uvm_answered *answer, struct outcome *outcome, struct err *err);

#endif
