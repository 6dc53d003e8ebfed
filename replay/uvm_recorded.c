#include "replay/uvm_recorded.h"

#include <math.h>

#include "trace/units.h"

/* A recording is a policy's own if at least this share of its services is decided as recorded, no fewer than the stock
 * prefetcher explains, and if at least this share of the prefetched pages agrees. The rest are services that a loss cut
 * off, or blocks whose edges are not known. */
#define OWN_SHARE 0.95

/* Bounds of one quantity. */
struct range {
    double lo, hi;
};

static struct range around(double a, double b)
{
    return (struct range){fmin(a, b), fmax(a, b)};
}

/* Store a range as a value where it is one number, else as an interval. Unknown bounds are stored as nothing. */
static void put(struct outcome *o, const char *name, struct range r)
{
    const struct metric_value *known = outcome_get(o, name);
    if (!known || !isfinite(r.lo) || !isfinite(r.hi))
        return;
    if (r.lo < r.hi)
        outcome_interval(o, name, r.lo, r.hi);
    else if (o->metrics[known - o->values].type == METRIC_INT)
        outcome_int(o, name, (int64_t)r.lo);
    else
        outcome_real(o, name, r.lo);
}

static void put_count(struct outcome *o, const char *name, uint64_t a, uint64_t b)
{
    put(o, name, around((double)a, (double)b));
}

/* What is said of every answer but a refusal: sizes, ratios of bytes, and notes on the source. */
static void describe(const struct uvm_recorded_run *run, struct outcome *o, struct range h2d)
{
    const struct uvm_recording *r = run->recording;
    struct range touched = {(double)r->touched_pages * UVM_PAGE_BYTES, (double)r->moved_pages * UVM_PAGE_BYTES};
    double structure = (double)r->structure_bytes;
    put(o, "h2d_bytes", h2d);
    put(o, "touched_bytes", touched);
    put(o, "structure_bytes", (struct range){structure, structure});
    put(o, "read_amplification_ratio", (struct range){h2d.lo / structure, h2d.hi / structure});
    put(o, "overfetch_ratio", (struct range){h2d.lo / touched.hi, h2d.hi / touched.lo});
    char text[64];
    outcome_note(
        o,
        "time_ns is the driver's work and the copies by the platform's costs%s; the kernels' own computing is not in "
        "it (they took %s as recorded, traced)",
        run->traced ? ", traced" : "",
        r->kernels ? units_human_ns((double)r->kernel_ns, text, sizeof text) : "an unknown time");
    if (!r->known_sizes)
        outcome_note(o,
                     "the recording names no managed allocation: neighbouring VA blocks count as one (%zu of its edges "
                     "were found inside a VA block), and memory that the GPU touched first is missing",
                     r->edges_cut);
    if (r->moved_pages * UVM_PAGE_BYTES < r->structure_bytes) {
        char whole[64];
        outcome_note(o,
                     "the recording shows %s of %s going to the GPU: the rest was not touched, or its records are lost",
                     units_human_bytes((double)r->moved_pages * UVM_PAGE_BYTES, text, sizeof text),
                     units_human_bytes(structure, whole, sizeof whole));
    }
    if (!r->known_data)
        outcome_note(o, "no CPU fault before the first batch tells which pages held data: all are taken to");
}

static void put_findings(struct outcome *o, const struct uvm_open_loop *loop)
{
    if (loop->granularity_bytes)
        put_count(o, "granularity_final_bytes", (uint64_t)loop->granularity_bytes, (uint64_t)loop->granularity_bytes);
    if (loop->findings[0])
        outcome_note(o, "the policy's own count: %s", loop->findings);
}

static void exact(const struct uvm_recorded_run *run, const struct uvm_open_loop *own, struct outcome *o)
{
    const struct uvm_recording *r = run->recording;
    outcome_note(o,
                 "exact: the policy decides %llu of %llu services as recorded (precision %.4f, recall %.4f); faults, "
                 "batches, services and bytes are the recording's",
                 (unsigned long long)own->services_exact, (unsigned long long)own->services,
                 own->planned_pages ? (double)own->common_pages / (double)own->planned_pages : 1.0,
                 own->recorded_pages ? (double)own->common_pages / (double)own->recorded_pages : 1.0);
    put_count(o, "time_ns", (uint64_t)own->time_ns, (uint64_t)own->time_ns);
    put_count(o, "faults", own->faults, own->faults);
    put_count(o, "batches", own->batches, own->batches);
    put_count(o, "services", own->services, own->services);
    put_count(o, "prefetched_bytes", r->prefetch_pages * UVM_PAGE_BYTES, r->prefetch_pages * UVM_PAGE_BYTES);
    put_count(o, "d2h_bytes", r->back_bytes, r->back_bytes);
    put_count(o, "evictions", r->evictions, r->evictions);
    put(o, "r_median", (struct range){own->r_median, own->r_median});
    put(o, "r_p25", (struct range){own->r_p25, own->r_p25});
    put(o, "r_p75", (struct range){own->r_p75, own->r_p75});
    double h2d = (double)((r->fault_pages + r->prefetch_pages) * UVM_PAGE_BYTES + r->user_bytes);
    describe(run, o, (struct range){h2d, h2d});
    put_findings(o, own);
}

/* What came back to the CPU under another policy: pages that the CPU surely touched, and at most all that was there. */
static struct range came_back(const struct uvm_recording *r, const struct uvm_open_loop *a,
                              const struct uvm_open_loop *b)
{
    if (!r->back_bytes && a->within && b->within)
        return (struct range){0, 0};
    return (struct range){fmin((double)a->back_bytes, (double)b->back_bytes),
                          fmax((double)a->h2d_bytes, (double)b->h2d_bytes)};
}

static void bound(const struct uvm_recorded_run *run, const struct uvm_open_loop *loop, struct outcome *o)
{
    const struct uvm_recording *r = run->recording;
    bool fixed = run->policy == &uvm_fixed || run->policy == &uvm_none;
    bool hidden = r->moved_pages > r->touched_pages;
    uint64_t recorded = (r->fault_pages + r->prefetch_pages) * UVM_PAGE_BYTES + r->user_bytes;
    struct range h2d = {(double)loop->h2d_bytes, (double)loop->h2d_bytes};
    if (!fixed && recorded < loop->h2d_bytes)
        h2d.lo = (double)recorded;
    outcome_note(
        o,
        "bound: what the recording had on the GPU is there under this policy too, so no hidden touch faults; "
        "faults, batches and services are at most the upper bounds, which follow the recorded order, and bytes "
        "are %s",
        fixed ? "exact" : "at least the recorded ones");
    put_count(o, "faults", loop->blocks, loop->faults);
    put_count(o, "services", loop->blocks, loop->services);
    put_count(o, "batches", (loop->blocks + 255) / 256, loop->batches);
    put(o, "prefetched_bytes",
        around(fmin((double)loop->prefetched_bytes, h2d.lo - (double)(loop->faults * UVM_PAGE_BYTES)),
               h2d.hi - (double)(loop->blocks * UVM_PAGE_BYTES)));
    put(o, "time_ns", around(round(h2d.lo / run->platform->h2d_bytes_per_s * 1e9), (double)loop->time_ns));
    put(o, "d2h_bytes", came_back(r, loop, loop));
    put(o, "evictions", (struct range){0, 0});
    if (loop->prefetched_bytes) {
        double used = (double)loop->used_bytes / (double)loop->prefetched_bytes;
        put(o, "prefetched_used_ratio", (struct range){used, hidden ? 1 : used});
    }
    describe(run, o, h2d);
    put_findings(o, loop);
}

static void interval(const struct uvm_recorded_run *run, const struct uvm_open_loop *a, const struct uvm_open_loop *b,
                     struct outcome *o)
{
    const struct uvm_recording *r = run->recording;
    outcome_note(o,
                 "interval: touches of %llu prefetched pages are hidden in the recording and may fault under this "
                 "policy; it was run with all of them untouched and with all touched right after they came",
                 (unsigned long long)(r->moved_pages - r->touched_pages));
    put_count(o, "time_ns", (uint64_t)a->time_ns, (uint64_t)b->time_ns);
    put_count(o, "faults", a->faults, b->faults);
    put_count(o, "batches", a->batches, b->batches);
    put_count(o, "services", a->services, b->services);
    struct range extra = around((double)a->prefetched_bytes, (double)b->prefetched_bytes);
    if (extra.hi > 0) /* hidden touches that come one by one fault least */
        extra.hi = fmax((double)a->h2d_bytes, (double)b->h2d_bytes) -
                   fmin((double)a->faults, (double)b->faults) * UVM_PAGE_BYTES;
    put(o, "prefetched_bytes", extra);
    put(o, "r_median", around(a->r_median, b->r_median));
    put(o, "r_p25", around(a->r_p25, b->r_p25));
    put(o, "r_p75", around(a->r_p75, b->r_p75));
    put(o, "d2h_bytes", came_back(r, a, b));
    put(o, "evictions", (struct range){0, 0});
    if (a->prefetched_bytes)
        put(o, "prefetched_used_ratio", (struct range){(double)a->used_bytes / (double)a->prefetched_bytes, 1});
    describe(run, o, around((double)a->h2d_bytes, (double)b->h2d_bytes));
    if (a->granularity_bytes)
        put_count(o, "granularity_final_bytes", (uint64_t)a->granularity_bytes, (uint64_t)b->granularity_bytes);
}

/* Whether memory would be short, by the settings, for the VA blocks that were migrated. */
static bool short_of_memory(const struct uvm_recorded_run *run, uint64_t blocks)
{
    if (run->gpu_memory_bytes)
        return (uint64_t)run->gpu_memory_bytes / UVM_BLOCK_BYTES < blocks;
    return run->oversubscription_pct > 100;
}

/* Whether the recording is a run of the policy itself, given what forcing it along gave. */
static int is_own(const struct uvm_recorded_run *run, const struct uvm_open_loop *own, bool *yes, struct err *err)
{
    struct uvm_open_loop_run stock = {.recording = run->recording,
                                      .policy = &uvm_tree,
                                      .platform = run->platform,
                                      .hidden = UVM_HIDDEN_FORCED,
                                      .progress = run->progress};
    struct uvm_open_loop tree;
    *yes = own->services && (double)own->services_exact >= OWN_SHARE * (double)own->services &&
           (double)own->common_pages >= OWN_SHARE * (double)own->planned_pages &&
           (double)own->common_pages >= OWN_SHARE * (double)own->recorded_pages;
    if (!*yes || run->policy == &uvm_tree)
        return 0;
    if (uvm_open_loop_run(&stock, &tree, err))
        return -1;
    *yes = own->services_exact >= tree.services_exact;
    return 0;
}

int uvm_recorded_run(const struct uvm_recorded_run *run, struct outcome *o, enum uvm_answer *answer, struct err *err)
{
    const struct uvm_recording *r = run->recording;
    struct uvm_open_loop_run loop = {.recording = r,
                                     .policy = run->policy,
                                     .params = run->params,
                                     .platform = run->platform,
                                     .hidden = UVM_HIDDEN_FORCED,
                                     .traced = run->traced,
                                     .progress = run->progress};
    struct uvm_open_loop own, untouched, touched;
    *answer = UVM_REFUSED;
    if (uvm_open_loop_run(&loop, &own, err))
        return -1;
    if (short_of_memory(run, own.blocks)) {
        outcome_note(o, "refused: with less memory than the recording's footprint pages are evicted and touched again, "
                        "and the recording does not show touches of pages that were resident; use a workload or a "
                        "trace of page touches");
        return 0;
    }
    bool is;
    if (is_own(run, &own, &is, err))
        return -1;
    if (is) {
        exact(run, &own, o);
        *answer = UVM_EXACT;
        return 0;
    }
    if (r->evictions) {
        outcome_note(o,
                     "refused: the recording evicted %llu VA blocks under another policy; with this one other blocks "
                     "would leave, and the touches that bring them back are hidden",
                     (unsigned long long)r->evictions);
        return 0;
    }
    loop.hidden = UVM_HIDDEN_UNTOUCHED;
    if (uvm_open_loop_run(&loop, &untouched, err))
        return -1;
    if (untouched.covers) {
        bound(run, &untouched, o);
        *answer = UVM_BOUND;
        return 0;
    }
    loop.hidden = UVM_HIDDEN_TOUCHED;
    if (uvm_open_loop_run(&loop, &touched, err))
        return -1;
    interval(run, &untouched, &touched, o);
    *answer = UVM_INTERVAL;
    return 0;
}

/* The value of a setting of the job's engine. */
static int64_t setting(const struct replay_job *job, const struct param *table, const char *name)
{
    const struct param *row = param_find(table, name);
    return row && job->settings ? param_int(row, job->settings) : 0;
}

int uvm_recorded_is(struct store *store, struct err *err)
{
    bool migrations = false, touches = false;
    for (int s = 0; s < store_stream_count(store) && !touches; s++) {
        struct store_cursor *cursor = store_cursor_open(store, s, err);
        if (!cursor)
            return -1;
        const struct record *records;
        size_t n;
        int more;
        while (!touches && (more = store_cursor_next(cursor, &records, NULL, &n, err)) > 0)
            for (size_t i = 0; i < n; i++) {
                migrations |= records[i].kind == RECORD_MIGRATE_H2D;
                touches |= records[i].kind == RECORD_TOUCH;
            }
        store_cursor_close(cursor);
        if (!touches && more < 0)
            return -1;
    }
    return migrations && !touches;
}

int uvm_recorded_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct engine *engine = engine_find("uvm");
    const struct param *table = engine ? engine->settings : NULL;
    struct store *store = job->inputs[0].store;
    struct uvm_recording recording;
    const struct recording wanted = {setting(job, table, "process"), setting(job, table, "gpu")};
    if (uvm_recording_load(&recording, store, wanted, err))
        return -1;
    int rc = recording.visit_count ? 0 : err_set(err, "%s holds no migration to the GPU", store_path(store));
    for (size_t i = 0; rc == 0 && i < job->policy_count; i++) {
        struct uvm_recorded_run run = {.recording = &recording,
                                       .policy = uvm_policy_of(job->policies[i].head),
                                       .params = job->policies[i].params,
                                       .platform = platform_section_get(job->platform, "uvm"),
                                       .oversubscription_pct = setting(job, table, "oversubscription_pct"),
                                       .gpu_memory_bytes = setting(job, table, "gpu_memory_bytes"),
                                       .traced = setting(job, table, "traced") != 0,
                                       .progress = job->progress};
        enum uvm_answer answer;
        rc = uvm_recorded_run(&run, &runs[i], &answer, err);
        if (rc == 0 && !store_complete(store))
            outcome_note(&runs[i], "the recording is incomplete: it ends before its writer was done");
    }
    uvm_recording_release(&recording);
    return rc;
}
