/* uvm_recorded: what a recording of migrations says under a policy.
 *
 * A recording shows which pages faulted and which the prefetcher brought; what was touched after it was resident stays
 * hidden, and so does memory that came without data. Each policy gets one of three answers, the first word of its first
 * note:
 *   exact      the recording is a run of the policy: it says so, or the policy decides (nearly) every recorded service
 *              as recorded; what it lacks of memory without data is an estimate
 *   estimate   another policy: the recorded faults in their order, pushed through it (uvm_open_loop.h); time_ns is the
 *              recorded time and the difference that the cost model sees, but no less than the copies, and than what
 *              fault service leaves of the kernels (uvm_gain.h)
 *   refused    memory would be oversubscribed, or the recording evicted under another policy, of prefetch or of
 *              eviction: touches after an eviction are hidden, and no metric can be given
 * Estimates are marked (outcome_unbound()). */
#ifndef REPLAY_UVM_UVM_RECORDED_H
#define REPLAY_UVM_UVM_RECORDED_H

#include "models/uvm/uvm_evict.h"
#include "replay/run/engine.h"
#include "replay/uvm/uvm_open_loop.h"

enum uvm_answer { UVM_EXACT, UVM_ESTIMATE, UVM_REFUSED };

struct uvm_recorded_run {
    const struct uvm_recording *recording;
    const struct uvm_policy *policy;
    const void *params;                   /* policy->head.state_size bytes, parameters stored */
    const struct uvm_evict_policy *evict; /* NULL: the driver's */
    const char *label; /* of both, as a simulated recording names its policy; NULL: no such recording is meant */
    const struct uvm_platform *platform;
    int64_t oversubscription_pct; /* as in uvm_run */
    int64_t gpu_memory_bytes;
    bool traced;
    struct progress *progress;
    const struct uvm_owners *owners; /* of the recording; NULL: only the whole is wanted */
};

/* Fill *outcome (a table with the uvm engine's metrics) and *answer. */
int uvm_recorded_run(const struct uvm_recorded_run *run, struct outcome *outcome, enum uvm_answer *answer,
                     struct err *err);

/* The uvm engine on a trace that holds migrations: every policy of the job. */
int uvm_recorded_replay(const struct replay_job *job, struct outcome *runs, struct err *err);

#endif
