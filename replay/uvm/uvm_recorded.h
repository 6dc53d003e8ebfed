/* uvm_recorded: what can honestly be said of a recording of migrations under another policy.
 *
 * A recording shows which pages faulted and which the prefetcher brought; what was touched after it was resident stays
 * hidden, and so does memory that came without data. Each policy gets one of four answers, the first word of its first
 * note:
 *   exact     the recording is a run of the policy: it says so, or the policy decides (nearly) every recorded service
 * as recorded; where nothing can be hidden and every service agrees that is proved bound     every touched page is
 * known, and from them follows what can come (uvm_bounds.h) interval  pages may have been touched that the recording
 * does not show: the intervals hold whichever were refused   memory would be oversubscribed, or the recording evicted
 * under another policy, of prefetch or of eviction: touches after an eviction are hidden, and no metric can be given
 * Values and intervals are proved for the closed loop that the recording is of; what cannot be bounded has the recorded
 * order's value and is named by the note "recorded order, no bound: METRIC, ..: why". time_ns of the recorded policy is
 * the recorded time; of another policy it is that and the difference of both in recorded order: never bounded. */
#ifndef REPLAY_UVM_UVM_RECORDED_H
#define REPLAY_UVM_UVM_RECORDED_H

#include "models/uvm/uvm_evict.h"
#include "replay/run/engine.h"
#include "replay/uvm/recording/uvm_bounds.h"
#include "replay/uvm/uvm_open_loop.h"
#include "replay/uvm/uvm_recorded_parts.h"

enum uvm_answer { UVM_EXACT, UVM_BOUND, UVM_INTERVAL, UVM_REFUSED };

struct uvm_recorded_run {
    const struct uvm_recording *recording;
    const struct uvm_known *known; /* what it proves, or what it and touches beside it do */
    const struct uvm_policy *policy;
    const void *params;                   /* policy->head.state_size bytes, parameters stored */
    const struct uvm_evict_policy *evict; /* NULL: the driver's */
    const char *label; /* of both, as a simulated recording names its policy; NULL: no such recording is meant */
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

/* What the note that lists unbounded metrics begins with. */
#define UVM_NO_BOUND "recorded order, no bound: "

#endif
