/* uvm_recorded: what can honestly be said of a recording of migrations under another policy.
 *
 * A recording shows which pages faulted and which the prefetcher brought; what was touched after it was resident stays
 * hidden. So each policy gets one of four answers, the first word of its first note:
 *   exact     the policy decides (nearly) every recorded service as recorded: the recording is its run;
 *   bound     whatever the recording had on the GPU would be there under the policy too, so no hidden touch can fault:
 *             faults, batches and services are at most what a run in recorded order gives;
 *   interval  pages are missing that the recording's prefetcher brought: the run is made twice, with all those pages
 *             untouched and with all touched, and the two results are the interval;
 *   refused   memory would be oversubscribed, or the recording evicted under another policy, of prefetch or of
 * eviction: touches after an eviction are hidden, and no metric can be given. time_ns is the driver's and the copies'
 * time by the platform's costs; the kernel's own computing is not in it. */
#ifndef REPLAY_UVM_UVM_RECORDED_H
#define REPLAY_UVM_UVM_RECORDED_H

#include "models/uvm/uvm_evict.h"
#include "replay/run/engine.h"
#include "replay/uvm/uvm_open_loop.h"
#include "replay/uvm/uvm_recorded_parts.h"

enum uvm_answer { UVM_EXACT, UVM_BOUND, UVM_INTERVAL, UVM_REFUSED };

struct uvm_recorded_run {
    const struct uvm_recording *recording;
    const struct uvm_policy *policy;
    const void *params;                   /* policy->head.state_size bytes, parameters stored */
    const struct uvm_evict_policy *evict; /* NULL: the driver's */
    const struct uvm_platform *platform;
    int64_t oversubscription_pct; /* as in uvm_run */
    int64_t gpu_memory_bytes;
    bool traced;
    struct progress *progress;
    const struct uvm_recorded_parts *parts; /* of the recording; NULL: only the whole is wanted */
};

/* Fill *outcome (a table with the uvm engine's metrics) and *answer. */
int uvm_recorded_run(const struct uvm_recorded_run *run, struct outcome *outcome, enum uvm_answer *answer,
                     struct err *err);

/* The uvm engine on a trace that holds migrations: every policy of the job. */
int uvm_recorded_replay(const struct replay_job *job, struct outcome *runs, struct err *err);

/* Whether a trace holds migrations to the GPU and no page touches. Returns 1, 0, or -1 with *err set. */
int uvm_recorded_is(struct store *store, struct err *err);

#endif
