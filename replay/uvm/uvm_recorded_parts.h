/* uvm_recorded_parts: which kernel each event of a recording belongs to, which allocation each piece, and what moved of
 * them as recorded.
 *
 * An event belongs to the kernel that runs at its start; there is one owner for events under several kernels and one
 * for those under none. Allocations are those the trace names, else the stretches of memory that were inferred
 * (replay/uvm/recording/uvm_recording.h); what was recorded outside of them has an owner too. Constant after init:
 * several runs may read it at the same time. */
#ifndef REPLAY_UVM_UVM_RECORDED_PARTS_H
#define REPLAY_UVM_UVM_RECORDED_PARTS_H

#include "replay/run/outcome.h"
#include "replay/uvm/uvm_open_loop.h"

struct uvm_recorded_parts {
    struct uvm_recorded_owner {
        char *name;
        struct uvm_moved moved;   /* as recorded */
        int64_t time_ns;          /* kernels: when it ran, as recorded */
        uint64_t structure_bytes; /* allocations of which something went to the GPU; else 0 */
    } * owners[OUTCOME_BYS];
    size_t count[OUTCOME_BYS], cap[OUTCOME_BYS];
    size_t *kernel;     /* by event */
    size_t *allocation; /* by piece */
};

/* The recording is one of the store's. On failure nothing is to be released. */
int uvm_recorded_parts_init(struct uvm_recorded_parts *parts, const struct uvm_recording *recording,
                            struct store *store, struct err *err);
void uvm_recorded_parts_release(struct uvm_recorded_parts *parts);

/* Tallies for one run, all zero; released with uvm_recorded_parts_free(). 0, or -1 with *err set. */
int uvm_recorded_parts_tallies(const struct uvm_recorded_parts *parts, struct uvm_owners *owners, struct err *err);
void uvm_recorded_parts_free(struct uvm_owners *owners);

#endif
