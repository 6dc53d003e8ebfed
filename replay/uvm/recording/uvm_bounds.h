/* uvm_bounds: what a recording proves of a run of the same program under a policy, whatever its order of faults.
 *
 * The program touches the same pages under every policy. Of each piece the evidence says which pages were surely
 * touched (they faulted) and which may have been (they came with others, or hold no data and so leave no record). With
 * enough memory and nothing taken back by the CPU a page comes once, so, T being the touched pages, touched <= T <=
 * maybe, and hull(T) what comes of them:
 *   faults      only touched pages fault, each once at most; where something was touched something faults, and a fault
 *               brings no less than `least` bytes around it, of a regional policy exactly its region: at least one
 *               fault for each such region, resp. for each piece with a touched page
 *   services    at least one for each piece with a touched page; each faults in a region of `least` that had not come:
 *               at most so many as there are such regions with a page that may have been touched
 *   batches     each holds at most batch_faults faults; a batch that serves nothing holds leftovers of the one before,
 *               which served something: at most twice the services, and one for the first
 *   bytes       pages with data within hull(T); the hull of a policy that is not regional lies between the regions of
 *               `least` around the touched pages and the whole pieces
 *   prefetched  what comes less what faults
 * A policy that brings pages of blocks that did not fault leaves at least one fault in all, and may bring everything.
 * Ends that are not known are infinite. Checked against the closed loop: uvm_recorded_property_test.c. */
#ifndef REPLAY_UVM_RECORDING_UVM_BOUNDS_H
#define REPLAY_UVM_RECORDING_UVM_BOUNDS_H

#include "models/uvm/uvm_policy.h"
#include "replay/uvm/recording/uvm_recording.h"

struct uvm_range {
    double lo, hi;
};

/* Of one piece. */
struct uvm_evidence {
    struct page_mask touched, maybe;   /* by the GPU, surely; possibly, these among them */
    struct page_mask data, maybe_data; /* held data when the GPU first touched its piece, surely; possibly */
};

struct uvm_known {
    const struct uvm_recording *recording;
    struct uvm_evidence *pieces; /* by piece of the recording */
    bool closed;                 /* nothing but these pages can have been touched, and their pieces are whole */
    bool complete;               /* nothing else can have been touched: touches beside the recording say so */
    bool quiet;      /* nothing but faults moved pages before the last batch, and those of the CPU none, as far as is
                        recorded */
    bool whole_data; /* every page that may have been touched held data: none came without a record */
    bool whole;      /* touched and maybe are the same everywhere */
};

/* From the recording alone. Released with uvm_known_release() in any case. */
int uvm_known_init(struct uvm_known *known, const struct uvm_recording *recording, struct err *err);
void uvm_known_release(struct uvm_known *known);

/* In pages, faults or services; of some pieces. */
struct uvm_bounds {
    struct uvm_range faults, services, moved, prefetched, touched;
};

/* Add what one piece proves of a run under the policy (state: its parameters stored). */
void uvm_bounds_add(struct uvm_bounds *bounds, const struct uvm_known *known, size_t piece,
                    const struct uvm_policy *policy, const void *state);

/* Add what one piece may hold besides what was recorded, in a run that the recording is of: pages without data leave no
 * record. */
void uvm_bounds_add_unseen(struct uvm_bounds *bounds, const struct uvm_known *known, size_t piece,
                           const struct uvm_policy *policy, const void *state);

/* Of the batches, by the faults and services of a whole run; batch_faults: entries of a batch, at most. */
struct uvm_range uvm_bounds_batches(const struct uvm_bounds *whole, int64_t batch_faults);

#endif
