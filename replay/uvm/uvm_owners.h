/* uvm_owners: which kernel each event of a recording belongs to, which allocation each piece, and what moved of them as
 * recorded.
 *
 * An event belongs to the kernel that runs at its start; there is one owner for events under several kernels and one
 * for those under none. Allocations are those the trace names, else the stretches of memory that were inferred
 * (replay/uvm/recording/uvm_recording.h); what was recorded outside of them has an owner too. Constant after init:
 * several runs may read it at the same time. */
#ifndef REPLAY_UVM_UVM_OWNERS_H
#define REPLAY_UVM_UVM_OWNERS_H

#include "replay/run/outcome.h"
#include "replay/uvm/recording/uvm_recording.h"

struct uvm_owners {
    struct uvm_owner {
        char *name;
        struct uvm_moved moved;   /* as recorded */
        int64_t time_ns;          /* kernels: when it ran, as recorded */
        uint64_t structure_bytes; /* allocations of which something went to the GPU; else 0 */
        bool unseen;              /* some piece of an allocation is */
    } * items[OUTCOME_BYS];
    size_t count[OUTCOME_BYS], cap[OUTCOME_BYS];
    size_t *kernel;     /* by event */
    size_t *allocation; /* by piece */
};

/* The recording is one of the store's. On failure nothing is to be released. */
int uvm_owners_init(struct uvm_owners *owners, const struct uvm_recording *recording, struct store *store,
                    struct err *err);
void uvm_owners_release(struct uvm_owners *owners);

#endif
