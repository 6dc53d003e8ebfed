/* uvm_answer: what a recording of migrations answers for a policy: exact, estimate or refused.
 *
 * A recording shows which pages faulted and which were prefetched, not what was touched while resident, nor memory that
 * came without data. Each policy gets one of three answers, the first word of its first note:
 *   exact      the recording is a run of the policy: it says so, or the policy decides (nearly) every recorded service
 *              as recorded; what it lacks of memory without data is an estimate
 *   estimate   another policy: the recorded faults in their order, pushed through it (uvm_open_loop_run()); time_ns is
 *              the recorded time and what the cost model adds; where that is below the copies for faults, or what
 *              fault service leaves of the kernels (uvm_gain_of()), it is what is left and the policy's services by the
 *              model; where that is below too, the bound alone
 *   refused    memory would be oversubscribed, or the recording evicted under another policy of prefetch or eviction:
 *              touches after an eviction are hidden
 * Estimates are marked (outcome_unbound()). */
#pragma once

#include "models/uvm/uvm_evict.h"
#include "models/uvm/uvm_platform.h"
#include "models/uvm/uvm_policy.h"
#include "replay/run/engine.h"
#include "replay/run/sweep_cache.h"
#include "replay/uvm/uvm_metrics.h"
#include "replay/uvm/uvm_recording.h"

/* --- uvm_open_loop: a recording pushed through another policy, in the recorded order of faults --- */

/* Batches and their times are as recorded. Pages of a batch that are resident under the policy are dropped, the others
 * are served, at most 256 pages a batch, VA block after VA block. A run takes the pages that the recording's prefetcher
 * brought all as untouched, or all as touched right after their batch. Memory suffices. */

/* The kernel of each event of a recording, the allocation of each piece, and what moved of them as recorded.
 *
 * An event belongs to the kernel that runs at its start; events under several kernels have an owner, those under none
 * another. Allocations are those the trace names, else the stretches that were inferred, and what lies outside of them.
 * Constant after init: several runs may read it at the same time. */
struct uvm_owners {
    struct uvm_owner {
        char *name;
        struct uvm_moved moved;   /* as recorded */
        int64_t time_ns;          /* kernels: when it ran, as recorded */
        uint64_t structure_bytes; /* allocations of which something went to the GPU; else 0 */
        bool unrecorded;          /* some piece of an allocation is */
    } * items[OUTCOME_BYS];
    size_t count[OUTCOME_BYS], cap[OUTCOME_BYS];
    size_t *kernel;     /* by event */
    size_t *allocation; /* by piece */
};

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
    uint64_t user_bytes;       /* of these, by the program's own prefetches */
    uint64_t prefetched_bytes; /* of h2d_bytes, besides the faulted pages */
    uint64_t used_bytes;       /* prefetched bytes whose page was touched later, as far as is known; not of kernels */
    uint64_t back_bytes;       /* that came back as recorded, of what the policy has on the GPU or nothing recorded */
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
    bool covers;               /* at every batch's end, what the recording had on the GPU was there too */
    struct uvm_quartiles r;    /* over windows of 20 batches; NAN without a batch */
    int64_t granularity_bytes; /* at the end; 0: the policy has none */
    char findings[256];        /* of the policy, "windows=31 grown=0"; "" if none */
};

int uvm_open_loop_run(const struct uvm_open_loop_run *run, struct uvm_open_loop *result, struct err *err);

/* --- answers --- */

/* The note of runs among which are estimates. */
#define UVM_ANSWER_ESTIMATES                                                                                           \
    "values behind ~ are estimates: the program's touches make them numbers (record --touches; replay uvm --touches "  \
    "FILE)"

enum uvm_answer { UVM_EXACT, UVM_ESTIMATE, UVM_REFUSED };

struct uvm_answer_run {
    struct uvm_open_loop_run loop;        /* but for `hidden` and `tallies`; owners NULL: only the whole is wanted */
    const struct uvm_evict_policy *evict; /* NULL: the driver's */
    const char *label; /* of both policies, as a simulated recording names them; NULL: no such recording is meant */
    int64_t oversubscription_pct; /* as in uvm_run */
    int64_t gpu_memory_bytes;
};

/* Fill *outcome (a table with the uvm engine's metrics) and *answer. */
int uvm_answer_run(const struct uvm_answer_run *run, struct outcome *outcome, enum uvm_answer *answer, struct err *err);

/* The uvm engine on a trace that holds migrations: every policy of the job. */
int uvm_answer_replay(const struct replay_job *job, struct outcome *runs, struct err *err);
