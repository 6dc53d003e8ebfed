#include "replay/uvm/uvm_recorded.h"

#include <math.h>

#include "trace/base/units.h"

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

/* What is said of a whole run or of a part: the run (twice the same, if only one was needed) and what was recorded. */
struct numbers {
    const struct uvm_tally *a, *b;
    const struct uvm_moved *moved;
    bool within; /* nothing was on the GPU but what the recording had there */
    int by;      /* enum outcome_by, or -1: the whole run */
};

/* What came back to the CPU under another policy: pages that the CPU surely touched, and at most all that was there.
 * When it does, and so under which kernel, is not known. */
static void put_back(struct outcome *o, const struct numbers *n, bool none)
{
    if (none)
        put_count(o, "d2h_bytes", 0, 0);
    else if (n->by != OUTCOME_BY_KERNEL)
        put(o, "d2h_bytes",
            (struct range){fmin((double)n->a->back_bytes, (double)n->b->back_bytes),
                           fmax((double)n->a->h2d_bytes, (double)n->b->h2d_bytes)});
}

/* Every answer but a refusal; returns the bytes copied to the GPU. */
static struct range put_numbers(const struct uvm_recorded_run *run, enum uvm_answer answer, const struct numbers *n,
                                struct outcome *o)
{
    const struct uvm_tally *a = n->a, *b = n->b;
    const struct uvm_moved *m = n->moved;
    bool kernel = n->by == OUTCOME_BY_KERNEL, whole = n->by < 0;
    bool none = !run->recording->back_bytes && n->within;
    double recorded = (double)(m->fault_bytes + m->prefetch_bytes + m->user_bytes), page = UVM_PAGE_BYTES;
    struct range h2d = around((double)a->h2d_bytes, (double)b->h2d_bytes),
                 time = around((double)a->time_ns, (double)b->time_ns);
    if (answer == UVM_EXACT) {
        h2d = (struct range){recorded, recorded};
        put_count(o, "faults", a->faults, a->faults);
        put_count(o, "services", a->services, a->services);
        if (whole || kernel)
            put_count(o, "batches", a->batches, a->batches);
        put_count(o, "prefetched_bytes", m->prefetch_bytes, m->prefetch_bytes);
        put_count(o, "d2h_bytes", m->back_bytes, m->back_bytes);
        put_count(o, "evictions", m->evictions, m->evictions);
    } else if (answer == UVM_BOUND) {
        if (!run->policy->regional && recorded < h2d.lo)
            h2d.lo = recorded;
        time.lo = h2d.lo / run->platform->h2d_bytes_per_s * 1e9;
        time.lo = whole ? round(time.lo) : floor(time.lo); /* parts must not add up to more */
        put_count(o, "faults", a->blocks, a->faults);
        put_count(o, "services", a->blocks, a->services);
        if (whole)
            put_count(o, "batches", (a->blocks + 255) / 256, a->batches);
        else if (kernel)
            put_count(o, "batches", 0, a->batches);
        put(o, "prefetched_bytes",
            around(fmin((double)a->prefetched_bytes, h2d.lo - (double)a->faults * page),
                   h2d.hi - (double)a->blocks * page));
        put_back(o, n, none);
        put_count(o, "evictions", 0, 0);
    } else {
        put_count(o, "faults", a->faults, b->faults);
        put_count(o, "services", a->services, b->services);
        if (whole || kernel)
            put_count(o, "batches", a->batches, b->batches);
        struct range extra = around((double)a->prefetched_bytes, (double)b->prefetched_bytes);
        if (extra.hi > 0) /* hidden touches that come one by one fault least */
            extra.hi = h2d.hi - fmin((double)a->faults, (double)b->faults) * page;
        put(o, "prefetched_bytes", extra);
        put_back(o, n, none);
        put_count(o, "evictions", 0, 0);
    }
    if (whole || kernel)
        put(o, "time_ns", around(time.lo, time.hi));
    put(o, "h2d_bytes", h2d);
    return h2d;
}

/* The parts; `a` and `b` hold their tallies. Owners of which nothing is known to have moved are left out, kernels that
 * the trace names are not. */
static int put_parts(const struct uvm_recorded_run *run, enum uvm_answer answer, const struct uvm_owners *a,
                     const struct uvm_owners *b, bool within, struct outcome *o, struct err *err)
{
    const struct uvm_recorded_parts *p = run->parts;
    static const struct uvm_tally nothing;
    static const struct uvm_moved still;
    for (int by = 0; p && by < OUTCOME_BYS; by++)
        for (size_t i = 0; i < p->count[by]; i++) {
            const struct uvm_recorded_owner *owner = &p->owners[by][i];
            const struct uvm_tally *x = by == OUTCOME_BY_KERNEL ? &a->kernels[i] : &a->allocations[i];
            const struct uvm_tally *y = by == OUTCOME_BY_KERNEL ? &b->kernels[i] : &b->allocations[i];
            bool idle = memcmp(x, &nothing, sizeof *x) == 0 && memcmp(y, &nothing, sizeof *y) == 0 &&
                        memcmp(&owner->moved, &still, sizeof still) == 0;
            if (idle && owner->name[0] == '(')
                continue;
            struct outcome *part = outcome_add_part(o, (enum outcome_by)by, owner->name, err);
            if (!part)
                return -1;
            const struct numbers n = {x, y, &owner->moved, within, by};
            struct range h2d = put_numbers(run, answer, &n, part);
            double structure = (double)owner->structure_bytes;
            if (by == OUTCOME_BY_ALLOCATION)
                put_count(part, "structure_bytes", owner->structure_bytes, owner->structure_bytes);
            if (structure > 0)
                put(part, "read_amplification_ratio", (struct range){h2d.lo / structure, h2d.hi / structure});
        }
    return 0;
}

static void exact(const struct uvm_recorded_run *run, const struct uvm_open_loop *own, const struct numbers *n,
                  struct outcome *o)
{
    outcome_note(o,
                 "exact: the policy decides %llu of %llu services as recorded (precision %.4f, recall %.4f); faults, "
                 "batches, services and bytes are the recording's",
                 (unsigned long long)own->services_exact, (unsigned long long)own->all.services,
                 own->planned_pages ? (double)own->common_pages / (double)own->planned_pages : 1.0,
                 own->recorded_pages ? (double)own->common_pages / (double)own->recorded_pages : 1.0);
    struct range h2d = put_numbers(run, UVM_EXACT, n, o);
    put(o, "r_median", (struct range){own->r_median, own->r_median});
    put(o, "r_p25", (struct range){own->r_p25, own->r_p25});
    put(o, "r_p75", (struct range){own->r_p75, own->r_p75});
    describe(run, o, h2d);
    put_findings(o, own);
}

static void bound(const struct uvm_recorded_run *run, const struct uvm_open_loop *loop, const struct numbers *n,
                  struct outcome *o)
{
    const struct uvm_recording *r = run->recording;
    bool hidden = r->moved_pages > r->touched_pages;
    outcome_note(
        o,
        "bound: what the recording had on the GPU is there under this policy too, so no hidden touch faults; "
        "faults, batches and services are at most the upper bounds, which follow the recorded order, and bytes "
        "are %s",
        run->policy->regional ? "exact" : "at least the recorded ones");
    struct range h2d = put_numbers(run, UVM_BOUND, n, o);
    if (loop->all.prefetched_bytes) {
        double used = (double)loop->all.used_bytes / (double)loop->all.prefetched_bytes;
        put(o, "prefetched_used_ratio", (struct range){used, hidden ? 1 : used});
    }
    describe(run, o, h2d);
    put_findings(o, loop);
}

static void interval(const struct uvm_recorded_run *run, const struct uvm_open_loop *a, const struct uvm_open_loop *b,
                     const struct numbers *n, struct outcome *o)
{
    const struct uvm_recording *r = run->recording;
    outcome_note(o,
                 "interval: touches of %llu prefetched pages are hidden in the recording and may fault under this "
                 "policy; it was run with all of them untouched and with all touched right after they came",
                 (unsigned long long)(r->moved_pages - r->touched_pages));
    struct range h2d = put_numbers(run, UVM_INTERVAL, n, o);
    put(o, "r_median", around(a->r_median, b->r_median));
    put(o, "r_p25", around(a->r_p25, b->r_p25));
    put(o, "r_p75", around(a->r_p75, b->r_p75));
    if (a->all.prefetched_bytes)
        put(o, "prefetched_used_ratio", (struct range){(double)a->all.used_bytes / (double)a->all.prefetched_bytes, 1});
    describe(run, o, h2d);
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
                                      .policy = uvm_policy_stock(),
                                      .platform = run->platform,
                                      .hidden = UVM_HIDDEN_FORCED,
                                      .progress = run->progress};
    struct uvm_open_loop tree;
    *yes = own->all.services && (double)own->services_exact >= OWN_SHARE * (double)own->all.services &&
           (double)own->common_pages >= OWN_SHARE * (double)own->planned_pages &&
           (double)own->common_pages >= OWN_SHARE * (double)own->recorded_pages;
    if (!*yes || run->policy->stock)
        return 0;
    if (uvm_open_loop_run(&stock, &tree, err))
        return -1;
    *yes = own->services_exact >= tree.services_exact;
    return 0;
}

/* One run of the open loop with its tallies by part. */
struct looped {
    struct uvm_open_loop out;
    struct uvm_owners owners;
};

static int loop_once(const struct uvm_recorded_run *run, enum uvm_hidden hidden, struct looped *looped, struct err *err)
{
    struct uvm_open_loop_run loop = {.recording = run->recording,
                                     .policy = run->policy,
                                     .params = run->params,
                                     .platform = run->platform,
                                     .hidden = hidden,
                                     .traced = run->traced,
                                     .progress = run->progress};
    if (run->parts) {
        if (uvm_recorded_parts_tallies(run->parts, &looped->owners, err))
            return -1;
        loop.owners = &looped->owners;
    }
    return uvm_open_loop_run(&loop, &looped->out, err);
}

static struct numbers whole(const struct looped *a, const struct looped *b, const struct uvm_moved *moved)
{
    return (struct numbers){&a->out.all, &b->out.all, moved, a->out.within && b->out.within, -1};
}

/* What the recording says under a policy that is not its own; `a` and `b` are for the runs. */
static int other_policy(const struct uvm_recorded_run *run, const struct uvm_moved *moved, struct looped *a,
                        struct looped *b, struct outcome *o, enum uvm_answer *answer, struct err *err)
{
    if (loop_once(run, UVM_HIDDEN_UNTOUCHED, a, err))
        return -1;
    if (a->out.covers) {
        const struct numbers n = whole(a, a, moved);
        *answer = UVM_BOUND;
        bound(run, &a->out, &n, o);
        return put_parts(run, UVM_BOUND, &a->owners, &a->owners, n.within, o, err);
    }
    if (loop_once(run, UVM_HIDDEN_TOUCHED, b, err))
        return -1;
    const struct numbers n = whole(a, b, moved);
    *answer = UVM_INTERVAL;
    interval(run, &a->out, &b->out, &n, o);
    return put_parts(run, UVM_INTERVAL, &a->owners, &b->owners, n.within, o, err);
}

static int answer_run(const struct uvm_recorded_run *run, struct looped *own, struct looped *a, struct looped *b,
                      struct outcome *o, enum uvm_answer *answer, struct err *err)
{
    const struct uvm_recording *r = run->recording;
    const struct uvm_moved moved = {.fault_bytes = r->fault_pages * UVM_PAGE_BYTES,
                                    .prefetch_bytes = r->prefetch_pages * UVM_PAGE_BYTES,
                                    .user_bytes = r->user_bytes,
                                    .back_bytes = r->back_bytes,
                                    .evictions = r->evictions};
    if (loop_once(run, UVM_HIDDEN_FORCED, own, err))
        return -1;
    if (short_of_memory(run, own->out.all.blocks)) {
        outcome_note(o, "refused: with less memory than the recording's footprint pages are evicted and touched again, "
                        "and the recording does not show touches of pages that were resident; use a workload or a "
                        "trace of page touches");
        return 0;
    }
    if (run->policy->ahead) {
        outcome_note(o,
                     "refused: the policy brings pages of blocks that did not fault, and the recording does not show "
                     "which of them would have been touched");
        return 0;
    }
    bool is, other_order = r->evictions && run->evict && !run->evict->stock;
    if (is_own(run, &own->out, &is, err))
        return -1;
    if (is && !other_order) {
        const struct numbers n = whole(own, own, &moved);
        *answer = UVM_EXACT;
        exact(run, &own->out, &n, o);
        return put_parts(run, UVM_EXACT, &own->owners, &own->owners, n.within, o, err);
    }
    if (r->evictions) {
        outcome_note(o,
                     "refused: the recording evicted %llu VA blocks under another policy; with this one other blocks "
                     "would leave, and the touches that bring them back are hidden",
                     (unsigned long long)r->evictions);
        return 0;
    }
    return other_policy(run, &moved, a, b, o, answer, err);
}

int uvm_recorded_run(const struct uvm_recorded_run *run, struct outcome *o, enum uvm_answer *answer, struct err *err)
{
    struct looped own = {0}, a = {0}, b = {0};
    *answer = UVM_REFUSED;
    int rc = answer_run(run, &own, &a, &b, o, answer, err);
    uvm_recorded_parts_free(&own.owners);
    uvm_recorded_parts_free(&a.owners);
    uvm_recorded_parts_free(&b.owners);
    return rc;
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
    struct uvm_recorded_parts parts = {0};
    int rc = recording.visit_count ? 0 : err_set(err, "%s holds no migration to the GPU", store_path(store));
    if (rc == 0)
        rc = uvm_recorded_parts_init(&parts, &recording, store, err);
    for (size_t i = 0; rc == 0 && i < job->policy_count; i++) {
        struct uvm_recorded_run run = {.recording = &recording,
                                       .policy = uvm_policy_of(job->policies[i].head),
                                       .params = job->policies[i].params,
                                       .evict = job->policies[i].second ? uvm_evict_of(job->policies[i].second) : NULL,
                                       .platform = platform_section_get(job->platform, "uvm"),
                                       .oversubscription_pct = setting(job, table, "oversubscription_pct"),
                                       .gpu_memory_bytes = setting(job, table, "gpu_memory_bytes"),
                                       .traced = setting(job, table, "traced") != 0,
                                       .progress = job->progress,
                                       .parts = &parts};
        enum uvm_answer answer;
        rc = uvm_recorded_run(&run, &runs[i], &answer, err);
        if (rc == 0 && !store_complete(store))
            outcome_note(&runs[i], "the recording is incomplete: it ends before its writer was done");
    }
    uvm_recorded_parts_release(&parts);
    uvm_recording_release(&recording);
    return rc;
}
