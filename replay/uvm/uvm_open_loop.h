/* uvm_open_loop: a recording pushed through another policy, in the recorded order of faults.
 *
 * Nothing answers back: which pages fault together, and when, is as recorded. Each recorded batch is a set of touched
 * pages; those that are resident under the policy are dropped, the rest is served, at most 256 pages a batch, VA block
 * after VA block. Pages that the recording's prefetcher brought hide their touches: a run takes them all as untouched,
 * or all as touched right after the batch they came in (they did not fault in it). Memory is taken to suffice. */
#ifndef REPLAY_UVM_UVM_OPEN_LOOP_H
#define REPLAY_UVM_UVM_OPEN_LOOP_H

#include "models/uvm/uvm_platform.h"
#include "models/uvm/uvm_policy.h"
#include "replay/run/outcome.h"
#include "replay/run/sweep_cache.h"
#include "replay/uvm/uvm_recording.h"

/* Which kernel each event of a recording belongs to, which allocation each piece, and what moved of them as
 * recorded.
 *
 * An event belongs to the kernel that runs at its start; there is one owner for events under several kernels and one
 * for those under none. Allocations are those the trace names, else the stretches of memory that were inferred
 * (replay/uvm/uvm_recording.h); what was recorded outside of them has an owner too. Constant after init:
 * several runs may read it at the same time. */
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

enum uvm_hidden {
    UVM_HIDDEN_UNTOUCHED,
    UVM_HIDDEN_TOUCHED,
    UVM_HIDDEN_FORCED /* no question: residency follows the recording, the policy is only asked and compared */
};

/* What a run, or a part of it, came to. */
struct uvm_tally {
    uint64_t faults;           /* pages served as faulted */
    uint64_t batches;          /* with at least one of them; forced: as recorded */
    uint64_t services;         /* VA blocks over batches */
    uint64_t blocks;           /* pieces of VA blocks that came to the GPU */
    uint64_t h2d_bytes;        /* of pages that held data, the program's own prefetches included */
    uint64_t prefetched_bytes; /* of these, besides the faulted pages */
    uint64_t used_bytes;       /* prefetched bytes whose page was touched later, as far as is known; not of kernels */
    uint64_t back_bytes;       /* known to have come back */
    int64_t time_ns;           /* modelled; not of allocations */
};

struct uvm_open_loop_run {
    const struct uvm_recording *recording;
    const struct uvm_policy *policy;
    const void *params; /* policy->head.state_size bytes, parameters stored; copied */
    const struct uvm_platform *platform;
    enum uvm_hidden hidden;
    bool traced; /* every migration record costs time, as under CUPTI */
    struct progress *progress;
    const struct uvm_owners *owners;        /* NULL: only the whole is wanted */
    struct uvm_tally *tallies[OUTCOME_BYS]; /* one for each owner, added to; of allocations batches stay 0 */
};

struct uvm_open_loop {
    struct uvm_tally all;
    uint64_t services_exact;                              /* forced: the plan is what was recorded */
    uint64_t planned_pages, recorded_pages, common_pages; /* prefetched: by the policy, as recorded, by both (forced) */
    bool covers;                   /* at every batch's end, what the recording had on the GPU was there too */
    double r_p25, r_median, r_p75; /* over windows of 20 batches; NAN without a batch */
    int64_t granularity_bytes;     /* at the end; 0: the policy has none */
    char findings[256];            /* of the policy, "windows=31 grown=0"; "" if none */
};

int uvm_open_loop_run(const struct uvm_open_loop_run *run, struct uvm_open_loop *result, struct err *err);

#endif
