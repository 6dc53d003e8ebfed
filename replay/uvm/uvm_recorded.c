#include "replay/uvm/uvm_recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm.h"
#include "replay/uvm/uvm_gain.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

/* A recording that does not say its policy is a policy's own if at least this share of its services is decided as
 * recorded, no fewer than the stock prefetcher explains, and if at least this share of the prefetched pages agrees. The
 * rest are services that a loss cut off, or blocks whose edges are not known. */
#define OWN_SHARE 0.95

/* One run of the open loop, with its tallies by owner. */
struct looped {
    struct uvm_open_loop out;
    struct uvm_tally *tallies[OUTCOME_BYS];
};

/* One answer being made. */
struct answered {
    const struct uvm_recorded_run *run;
    bool exact;
    struct looped own, other; /* forced along the recording; in recorded order, if not exact */
    bool touched;             /* the other loop takes pages that came without a fault for touched */
};

static void looped_release(struct looped *looped)
{
    for (int by = 0; by < OUTCOME_BYS; by++)
        free(looped->tallies[by]);
    *looped = (struct looped){0};
}

static int loop_once(const struct uvm_recorded_run *run, enum uvm_hidden hidden, struct looped *looped, struct err *err)
{
    struct uvm_open_loop_run loop = {.recording = run->recording,
                                     .policy = run->policy,
                                     .params = run->params,
                                     .platform = run->platform,
                                     .hidden = hidden,
                                     .traced = run->traced || run->recording->traced,
                                     .progress = run->progress,
                                     .owners = run->owners};
    for (int by = 0; run->owners && by < OUTCOME_BYS; by++) {
        loop.tallies[by] = looped->tallies[by] = mem_zalloc(run->owners->count[by], sizeof *looped->tallies[by], err);
        if (!looped->tallies[by])
            return -1;
    }
    return uvm_open_loop_run(&loop, &looped->out, err);
}

/* --- which answer --- */

/* Whether memory would be short, by the settings, for the VA blocks that were migrated. */
static bool short_of_memory(const struct uvm_recorded_run *run, uint64_t blocks)
{
    if (run->gpu_memory_bytes)
        return (uint64_t)run->gpu_memory_bytes / UVM_BLOCK_BYTES < blocks;
    return run->oversubscription_pct > 100;
}

/* Without the eviction that is the driver's anyway. */
static size_t bare(const char *label)
{
    size_t n = strlen(label);
    return n > 4 && strcmp(label + n - 4, "+lru") == 0 ? n - 4 : n;
}

/* Whether the recording is a run of the policy, given what forcing it along gave. */
static int is_own(const struct answered *a, bool *yes, struct err *err)
{
    const struct uvm_recorded_run *run = a->run;
    const struct uvm_recording *r = run->recording;
    const struct uvm_open_loop *own = &a->own.out;
    *yes = false;
    if (r->policy[0] && run->label) {
        size_t n = bare(r->policy);
        *yes = n == bare(run->label) && strncmp(r->policy, run->label, n) == 0;
        return 0;
    }
    if (run->policy->ahead || (r->evictions && run->evict && !run->evict->stock))
        return 0;
    *yes = own->all.services && (double)own->services_exact >= OWN_SHARE * (double)own->all.services &&
           (double)own->common_pages >= OWN_SHARE * (double)own->planned_pages &&
           (double)own->common_pages >= OWN_SHARE * (double)own->recorded_pages;
    if (!*yes || run->policy->stock)
        return 0;
    struct uvm_open_loop_run stock = {.recording = r,
                                      .policy = uvm_policy_stock(),
                                      .platform = run->platform,
                                      .hidden = UVM_HIDDEN_FORCED,
                                      .progress = run->progress};
    struct uvm_open_loop tree;
    if (uvm_open_loop_run(&stock, &tree, err))
        return -1;
    *yes = own->services_exact >= tree.services_exact;
    return 0;
}

/* Why a policy gets no answer, or NULL. */
static const char *refusal(const struct answered *a)
{
    const struct uvm_recorded_run *run = a->run;
    if (short_of_memory(run, a->own.out.all.blocks))
        return "with less memory than the recording's footprint pages are evicted and touched again, and the recording "
               "does not show touches of pages that were resident; use a workload or a trace of page touches";
    if (!a->exact && run->recording->advised)
        return "advice, discards, access counters or thrashing decided where pages lie, and the recording does not "
               "show what the "
               "GPU reached without a fault";
    if (!a->exact && run->recording->evictions)
        return "the recording evicted under another policy; with this one other blocks would leave, and the touches "
               "that bring them back are hidden";
    return NULL;
}

/* --- the numbers --- */

/* A value, if the table has the metric; what is not sure is an estimate. */
static void put(struct outcome *o, const char *name, double value, bool sure)
{
    const struct metric_value *v = outcome_get(o, name);
    if (!v || !isfinite(value))
        return;
    if (o->metrics[v - o->values].type == METRIC_INT)
        outcome_int(o, name, (int64_t)value);
    else
        outcome_real(o, name, value);
    if (!sure)
        outcome_unbound(o, name);
}

/* The time that was recorded: of the kernels, else from the first batch to the last. */
static double recorded_time(const struct uvm_recording *r)
{
    double first = INFINITY, last = -INFINITY;
    if (r->kernels)
        return (double)r->kernel_ns;
    for (size_t e = 0; e < r->event_count; e++)
        if (r->events[e].kind == UVM_EVENT_BATCH) {
            first = fmin(first, (double)r->events[e].start_ns);
            last = fmax(last, (double)r->events[e].end_ns);
        }
    return last - first;
}

/* One eviction of a block that the CPU had emptied leaves no record; two in a row may look like one, as do those of two
 * allocations in one VA block. */
static bool sure_evictions(const struct uvm_recording *r)
{
    return !r->evictions || (r->known_sizes && !r->back.count && !r->evictions_joined);
}

/* What belongs to an owner, or to the whole run (by: OUTCOME_BYS); `now` is what the policy made of it. */
static void put_numbers(const struct answered *a, struct outcome *o, int by, const struct uvm_owner *owner,
                        const struct uvm_tally *now, double time_ns)
{
    const struct uvm_recording *r = a->run->recording;
    const struct uvm_moved *moved = &owner->moved;
    const bool exact = a->exact, seen = exact && !owner->unseen;
    const double h2d =
        (double)(exact ? moved->fault_bytes + moved->prefetch_bytes + moved->user_bytes : now->h2d_bytes);
    put(o, "faults", (double)now->faults, seen);
    put(o, "services", (double)now->services, seen);
    put(o, "h2d_bytes", h2d, exact);
    put(o, "d2h_bytes", (double)(exact ? moved->back_bytes : now->back_bytes), exact);
    put(o, "evictions", exact ? (double)moved->evictions : 0, exact && sure_evictions(r));
    put(o, "prefetched_bytes", (double)(exact ? moved->prefetch_bytes : now->prefetched_bytes), seen);
    if (by != OUTCOME_BY_ALLOCATION) {
        put(o, "batches", (double)now->batches, exact && r->batches.record_count);
        put(o, "time_ns", time_ns, exact && r->kernels && r->quiet && !(r->simulated && r->span_count > 1));
    }
    if (by == OUTCOME_BY_KERNEL || !owner->structure_bytes)
        return;
    const bool sure = exact && (by == OUTCOME_BYS ? r->sure_sizes : r->closed);
    put(o, "structure_bytes", (double)owner->structure_bytes, sure);
    put(o, "read_amplification_ratio", h2d / (double)owner->structure_bytes, sure);
}

/* Of the whole run alone: what the batches, the pages and the policy itself say. */
static void put_whole(const struct answered *a, struct outcome *o, const struct uvm_owner *whole)
{
    const struct uvm_recording *r = a->run->recording;
    const struct uvm_open_loop *loop = a->exact ? &a->own.out : &a->other.out;
    const double touched = (double)(r->touched_pages * UVM_PAGE_BYTES), h2d = outcome_get(o, "h2d_bytes")->real;
    const bool all = a->exact && !r->unseen && r->touched_pages == r->moved_pages;
    if (whole->structure_bytes) {
        put(o, "touched_bytes", touched, all);
        put(o, "overfetch_ratio", h2d / touched, all);
    }
    put(o, "r_median", loop->r_median, false);
    put(o, "r_p25", loop->r_p25, false);
    put(o, "r_p75", loop->r_p75, false);
    if (!a->exact && loop->all.prefetched_bytes)
        put(o, "prefetched_used_ratio", (double)loop->all.used_bytes / (double)loop->all.prefetched_bytes, false);
    if (loop->granularity_bytes)
        put(o, "granularity_final_bytes", (double)loop->granularity_bytes, a->exact && !a->run->policy->learn);
}

/* Owners of which nothing is known to have moved are left out, kernels that the trace names are not. */
static int put_parts(const struct answered *a, struct outcome *o, struct err *err)
{
    static const struct uvm_tally nothing;
    static const struct uvm_moved still;
    const struct uvm_owners *owners = a->run->owners;
    for (int by = 0; owners && by < OUTCOME_BYS; by++)
        for (size_t i = 0; i < owners->count[by]; i++) {
            struct uvm_owner owner = owners->items[by][i];
            const struct uvm_tally *was = &a->own.tallies[by][i], *now = a->exact ? was : &a->other.tallies[by][i];
            if (owner.name[0] == '(' && !memcmp(was, &nothing, sizeof nothing) &&
                !memcmp(now, &nothing, sizeof nothing) && !memcmp(&owner.moved, &still, sizeof still))
                continue;
            struct outcome *part = outcome_add_part(o, (enum outcome_by)by, owner.name, err);
            if (!part)
                return -1;
            owner.unseen |= by == OUTCOME_BY_KERNEL && a->run->recording->unseen;
            put_numbers(a, part, by, &owner, now, (double)(owner.time_ns + now->time_ns - was->time_ns));
        }
    return 0;
}

/* --- notes --- */

static void describe(const struct answered *a, struct outcome *o)
{
    const struct uvm_recording *r = a->run->recording;
    const struct uvm_open_loop *loop = a->exact ? &a->own.out : &a->other.out;
    char text[64], whole[64];
    if (!r->kernels)
        outcome_note(o, "no kernel is recorded: time_ns is from the first fault batch to the end of the last");
    if (r->span_count > 1)
        outcome_note(o, "time_ns is that of the kernels as recorded, without what lies between them");
    if (!r->known_sizes)
        outcome_note(o,
                     "the recording names no managed allocation: neighbouring VA blocks count as one (%zu of its edges "
                     "were found inside a VA block), and memory that the GPU touched first is missing",
                     r->edges_cut);
    if (r->moved_pages * UVM_PAGE_BYTES < r->structure_bytes)
        outcome_note(o,
                     "the recording shows %s of %s going to the GPU: the rest was not touched, or its records are lost",
                     units_human_bytes((double)r->moved_pages * UVM_PAGE_BYTES, text, sizeof text),
                     units_human_bytes((double)r->structure_bytes, whole, sizeof whole));
    if (!r->known_data)
        outcome_note(o, "no CPU fault before the first batch tells which pages held data: all are taken to");
    if (loop->findings[0])
        outcome_note(o, "the policy's own count, in recorded order: %s", loop->findings);
}

static void say_exact(const struct answered *a, struct outcome *o)
{
    const struct uvm_open_loop *own = &a->own.out;
    outcome_note(o,
                 "exact: the policy decides %llu of %llu services as recorded (precision %.4f, recall %.4f); faults, "
                 "batches, services, bytes and time are the recording's",
                 (unsigned long long)own->services_exact, (unsigned long long)own->all.services,
                 own->planned_pages ? (double)own->common_pages / (double)own->planned_pages : 1.0,
                 own->recorded_pages ? (double)own->common_pages / (double)own->recorded_pages : 1.0);
    if (a->run->recording->unseen)
        outcome_note(o, "marked ~: memory that held no data came without a record");
}

static void say_estimate(const struct answered *a, struct outcome *o)
{
    const struct uvm_recording *r = a->run->recording;
    outcome_note(o,
                 "estimate: the recorded faults in their order under this policy; %llu pages came without a fault, and "
                 "are taken %s",
                 (unsigned long long)(r->moved_pages - r->touched_pages),
                 a->touched ? "to be touched as they come" : "not to be touched");
}

/* --- the answer --- */

/* No less than what copies, and the kernels without fault service, take. */
static double estimated_time(const struct answered *a)
{
    const struct uvm_tally *now = &a->other.out.all;
    const struct uvm_gain gain = uvm_gain_of(a->run->recording);
    const double copies = (double)now->h2d_bytes / a->run->platform->h2d_bytes_per_s * 1e9,
                 rest = gain.whole ? (double)(gain.kernel_ns - gain.served_ns) : 0;
    const double time = recorded_time(a->run->recording) + (double)now->time_ns - (double)a->own.out.all.time_ns;
    return isfinite(time) ? round(fmax(time, fmax(copies, rest))) : time;
}

static int say(const struct answered *a, struct outcome *o, struct err *err)
{
    const struct uvm_recording *r = a->run->recording;
    struct uvm_tally now = a->exact ? a->own.out.all : a->other.out.all;
    const struct uvm_owner whole = {.moved = {.fault_bytes = r->fault_pages * UVM_PAGE_BYTES,
                                              .prefetch_bytes = r->prefetch_pages * UVM_PAGE_BYTES,
                                              .user_bytes = r->user_bytes,
                                              .back_bytes = r->back_bytes,
                                              .evictions = r->evictions},
                                    .structure_bytes = r->structure_bytes,
                                    .unseen = r->unseen};
    if (a->exact && r->batches.record_count)
        now.batches = r->batches.record_count;
    (a->exact ? say_exact : say_estimate)(a, o);
    put_numbers(a, o, OUTCOME_BYS, &whole, &now, a->exact ? recorded_time(r) : estimated_time(a));
    put_whole(a, o, &whole);
    describe(a, o);
    return put_parts(a, o, err);
}

static int answer(struct answered *a, struct outcome *o, enum uvm_answer *kind, struct err *err)
{
    const struct uvm_recorded_run *run = a->run;
    if (loop_once(run, UVM_HIDDEN_FORCED, &a->own, err) || is_own(a, &a->exact, err))
        return -1;
    const char *why = refusal(a);
    if (why) {
        outcome_note(o, "refused: %s", why);
        return 0;
    }
    *kind = a->exact ? UVM_EXACT : UVM_ESTIMATE;
    if (!a->exact && loop_once(run, UVM_HIDDEN_UNTOUCHED, &a->other, err))
        return -1;
    a->touched = !a->exact && !a->other.out.covers;
    if (a->touched) {
        looped_release(&a->other);
        if (loop_once(run, UVM_HIDDEN_TOUCHED, &a->other, err))
            return -1;
    }
    return say(a, o, err);
}

int uvm_recorded_run(const struct uvm_recorded_run *run, struct outcome *o, enum uvm_answer *kind, struct err *err)
{
    struct answered a = {.run = run};
    *kind = UVM_REFUSED;
    int rc = answer(&a, o, kind, err);
    looped_release(&a.own);
    looped_release(&a.other);
    return rc;
}

/* --- the job --- */

/* What is said of every run: the ceiling, and what makes numbers of estimates. */
static void say_all(const struct uvm_recording *r, bool complete, bool estimated, struct outcome *o)
{
    char share[256];
    const struct uvm_gain gain = uvm_gain_of(r);
    if (*uvm_gain_say(&gain, share, sizeof share))
        outcome_note(o, "%s", share);
    if (estimated)
        outcome_note(o, "values behind ~ are estimates: the program's touches make them numbers (record --touches; "
                        "replay uvm --touches FILE)");
    if (!complete)
        outcome_note(o, "the recording is incomplete: it ends before its writer was done");
}

static int run_policies(const struct replay_job *job, const struct uvm_recording *r, const struct uvm_owners *owners,
                        struct outcome *runs, struct err *err)
{
    const struct uvm_settings *set = job->settings;
    bool estimated = false;
    for (size_t i = 0; i < job->policy_count; i++) {
        char label[256];
        struct uvm_recorded_run run = {.recording = r,
                                       .label = replay_policy_label(&job->policies[i], label, sizeof label),
                                       .policy = uvm_policy_of(job->policies[i].head),
                                       .params = job->policies[i].params,
                                       .evict = job->policies[i].second ? uvm_evict_of(job->policies[i].second) : NULL,
                                       .platform = platform_section_get(job->platform, "uvm"),
                                       .oversubscription_pct = set->managed.oversubscription_pct,
                                       .gpu_memory_bytes = set->managed.gpu_memory_bytes,
                                       .traced = set->traced != 0,
                                       .progress = job->progress,
                                       .owners = owners};
        enum uvm_answer answer;
        if (uvm_recorded_run(&run, &runs[i], &answer, err))
            return -1;
        estimated |= answer == UVM_ESTIMATE;
    }
    for (size_t i = 0; i < job->policy_count; i++)
        say_all(r, store_complete(job->inputs[0].store), estimated, &runs[i]);
    return 0;
}

int uvm_recorded_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct uvm_settings *set = job->settings;
    struct store *store = job->inputs[0].store;
    struct uvm_recording recording;
    struct uvm_owners owners = {0};
    if (uvm_recording_load(&recording, store, (struct recording){set->process, set->gpu}, err))
        return -1;
    int rc = recording.visit_count ? uvm_owners_init(&owners, &recording, store, err)
                                   : err_set(err, "%s holds no migration to the GPU", store_path(store));
    if (rc == 0)
        rc = run_policies(job, &recording, &owners, runs, err);
    uvm_owners_release(&owners);
    uvm_recording_release(&recording);
    return rc;
}
