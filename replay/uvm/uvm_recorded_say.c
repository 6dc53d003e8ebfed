#include "replay/uvm/uvm_recorded_say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/units.h"

/* --- values, intervals, and what is neither --- */

/* An outcome being filled, and the metrics of it that have no bound. */
struct sink {
    struct outcome *o;
    char open[512];
};

static void put_value(struct outcome *o, const char *name, double value)
{
    const struct metric_value *known = outcome_get(o, name);
    if (!known || !isfinite(value))
        return;
    if (o->metrics[known - o->values].type == METRIC_INT)
        outcome_int(o, name, (int64_t)value);
    else
        outcome_real(o, name, value);
}

static void open_metric(struct sink *s, const char *name)
{
    size_t n = strlen(s->open);
    if (outcome_get(s->o, name))
        (void)snprintf(s->open + n, sizeof s->open - n, "%s%s", n ? ", " : "", name);
}

/* A value of which no more is known than that the recorded order gives it. */
static void put_open(struct sink *s, const char *name, double value)
{
    put_value(s->o, name, value);
    if (!isfinite(value) || !outcome_get(s->o, name))
        return;
    open_metric(s, name);
    outcome_unbound(s->o, name);
}

/* A number where both ends are one, an interval where they are known, else the value of the recorded order. */
static void put(struct sink *s, const char *name, struct uvm_range r, double recorded_order)
{
    if (!outcome_get(s->o, name) || isnan(r.lo))
        return;
    if (!isfinite(r.hi))
        put_open(s, name, recorded_order);
    else if (r.lo < r.hi)
        outcome_interval(s->o, name, r.lo, r.hi);
    else
        put_value(s->o, name, r.lo);
}

static struct uvm_range bytes_of(struct uvm_range pages)
{
    return (struct uvm_range){pages.lo * UVM_PAGE_BYTES, pages.hi * UVM_PAGE_BYTES};
}

static struct uvm_range just(double value)
{
    return (struct uvm_range){value, value};
}

/* NAN without a divisor. */
static struct uvm_range ratio(struct uvm_range a, struct uvm_range b)
{
    if (!(b.hi > 0))
        return just(NAN);
    return (struct uvm_range){a.lo / b.hi, b.lo > 0 ? a.hi / b.lo : INFINITY};
}

/* --- the whole of an answer, or a part --- */

struct numbers {
    struct uvm_bounds bounds;
    struct uvm_range batches, h2d, structure; /* bytes */
    const struct uvm_tally *order;            /* what the recorded order gives under the policy */
    double time_ns;                           /* recorded, or that and the difference; NAN: not known */
    bool time_known;
    bool exact; /* the lower ends are what was recorded */
    struct uvm_range d2h, evictions;
    int by; /* enum outcome_by, or -1: the whole run */
};

static void put_numbers(struct sink *s, const struct numbers *n)
{
    const struct uvm_tally *t = n->order;
    put(s, "faults", n->bounds.faults, n->exact ? n->bounds.faults.lo : (double)t->faults);
    put(s, "services", n->bounds.services, n->exact ? n->bounds.services.lo : (double)t->services);
    if (n->by != OUTCOME_BY_ALLOCATION) {
        put(s, "batches", n->batches, (double)t->batches);
        put(s, "time_ns", n->time_known ? just(n->time_ns) : (struct uvm_range){0, INFINITY}, n->time_ns);
    }
    put(s, "h2d_bytes", n->h2d, (double)t->h2d_bytes);
    put(s, "d2h_bytes", n->d2h, (double)t->back_bytes);
    put(s, "evictions", n->evictions, n->evictions.lo);
    struct uvm_range besides = bytes_of(n->bounds.prefetched);
    put(s, "prefetched_bytes", besides, n->exact ? besides.lo : (double)t->prefetched_bytes);
    if (n->by == OUTCOME_BY_KERNEL || !(n->structure.hi > 0))
        return;
    put(s, "structure_bytes", n->structure, n->structure.lo);
    struct uvm_range read = ratio(n->h2d, n->structure);
    if (!isfinite(n->structure.hi))
        read.hi = INFINITY;
    put(s, "read_amplification_ratio", read, (double)t->h2d_bytes / n->structure.lo);
    if (n->by >= 0)
        return;
    struct uvm_range touched = bytes_of(n->bounds.touched);
    put(s, "touched_bytes", touched, touched.lo);
    put(s, "overfetch_ratio", ratio(n->h2d, touched), (double)t->h2d_bytes / touched.lo);
}

/* Bytes of the allocations that were touched. */
static struct uvm_range structure(const struct uvm_known *known)
{
    const struct uvm_recording *r = known->recording;
    struct uvm_range sum = {0, 0};
    if (!known->closed)
        return (struct uvm_range){(double)r->structure_bytes, INFINITY};
    for (size_t a = 0, p = 0; a < r->allocation_count; a++) {
        bool touched = false, maybe = false;
        for (; p < r->piece_count && r->pieces[p].start < r->allocations[a].end; p++) {
            touched |= page_mask_any(&known->pieces[p].touched);
            maybe |= page_mask_any(&known->pieces[p].maybe);
        }
        sum.lo += touched ? (double)r->allocations[a].bytes : 0;
        sum.hi += maybe ? (double)r->allocations[a].bytes : 0;
    }
    return sum;
}

/* What a part, or the whole, of an exact answer was as recorded. */
static void add_recorded(struct numbers *n, const struct uvm_recording *r, const struct uvm_tally *own,
                         const struct uvm_moved *moved)
{
    struct uvm_range *const seen[] = {&n->bounds.faults, &n->bounds.services, &n->bounds.prefetched};
    const double recorded[] = {(double)own->faults, (double)own->services,
                               (double)moved->prefetch_bytes / UVM_PAGE_BYTES};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        seen[i]->lo += recorded[i];
        seen[i]->hi += recorded[i];
    }
    n->h2d = just((double)(moved->fault_bytes + moved->prefetch_bytes + moved->user_bytes));
    n->d2h = just((double)moved->back_bytes);
    /* One of a block that the CPU had emptied leaves no record; two in a row may look like one, as do those of two
     * allocations in one VA block. */
    bool apart = !r->evictions || (r->known_sizes && !r->back.count);
    n->evictions.lo = (double)moved->evictions;
    n->evictions.hi = n->evictions.lo + (apart ? (double)r->evictions_joined : INFINITY);
}

static void put_others(struct numbers *n, const struct uvm_answered *a)
{
    bool none = a->run->known->quiet && !a->run->recording->back_bytes;
    n->h2d = bytes_of(n->bounds.moved);
    n->d2h = (struct uvm_range){0, none ? 0 : INFINITY};
    n->evictions = just(0);
}

/* The parts. Owners of which nothing is known to have moved are left out, kernels that the trace names are not. What a
 * kernel among several brings under another policy, another may have brought before: its lower ends are 0. */
static int put_parts(const struct uvm_answered *a, const struct numbers *whole, struct outcome *o, struct err *err)
{
    const struct uvm_recorded_parts *p = a->run->parts;
    const struct uvm_owners *own = &a->own.owners, *now = a->exact ? own : &a->other.owners;
    static const struct uvm_tally nothing;
    static const struct uvm_moved still;
    for (int by = 0; p && by < OUTCOME_BYS; by++)
        for (size_t i = 0; i < p->count[by]; i++) {
            const struct uvm_recorded_owner *owner = &p->owners[by][i];
            bool kernel = by == OUTCOME_BY_KERNEL;
            const struct uvm_tally *was = kernel ? &own->kernels[i] : &own->allocations[i];
            struct numbers n = {.order = kernel ? &now->kernels[i] : &now->allocations[i], .by = by, .exact = a->exact};
            if (owner->name[0] == '(' && !memcmp(was, &nothing, sizeof nothing) &&
                !memcmp(n.order, &nothing, sizeof nothing) && !memcmp(&owner->moved, &still, sizeof still))
                continue;
            struct sink part = {.o = outcome_add_part(o, (enum outcome_by)by, owner->name, err)};
            if (!part.o)
                return -1;
            n.bounds = kernel ? a->whole : a->allocations[i];
            n.batches = kernel && a->exact ? just((double)n.order->batches) : (struct uvm_range){0, whole->batches.hi};
            n.structure = (struct uvm_range){(double)owner->structure_bytes,
                                             a->run->known->closed ? (double)owner->structure_bytes : INFINITY};
            n.time_ns = (double)owner->time_ns + (double)n.order->time_ns - (double)was->time_ns;
            n.time_known = whole->time_known;
            if (a->exact)
                add_recorded(&n, a->run->recording, was, &owner->moved);
            else
                put_others(&n, a);
            if (kernel && !a->exact)
                n.bounds.faults.lo = n.bounds.services.lo = n.bounds.prefetched.lo = n.h2d.lo = 0;
            put_numbers(&part, &n);
        }
    return 0;
}

/* --- notes --- */

static void describe(const struct uvm_answered *a, struct outcome *o)
{
    const struct uvm_recording *r = a->run->recording;
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
    if (!a->exact && a->run->known->quiet)
        outcome_note(o, "assumed: between kernels and behind them the CPU touches managed memory only as recorded");
}

static void say_open(const struct uvm_answered *a, const struct sink *s)
{
    const struct uvm_known *known = a->run->known;
    if (!s->open[0])
        return;
    outcome_note(s->o, UVM_NO_BOUND "%s: %s", s->open,
                 a->exact && known->closed ? "what the batches show of them depends on records that may be missing"
                 : a->exact                ? "memory that held no data is not recorded"
                 : !known->closed ? "the program's own order under this policy, and memory that held no data, are not "
                                    "recorded"
                 : !known->quiet  ? "pages are moved by others than the GPU's faults in between, and those would differ"
                                  : "the program's own order under this policy is not recorded");
}

static void say_findings(const struct uvm_answered *a, struct outcome *o)
{
    const struct uvm_open_loop *loop = a->exact ? &a->own.out : &a->other.out;
    if (loop->findings[0])
        outcome_note(o, "the policy's own count, in recorded order: %s", loop->findings);
}

static void say_exact(const struct uvm_answered *a, struct outcome *o)
{
    const struct uvm_open_loop *own = &a->own.out;
    outcome_note(o,
                 "exact: the policy decides %llu of %llu services as recorded (precision %.4f, recall %.4f); faults, "
                 "batches, services, bytes and time are the recording's",
                 (unsigned long long)own->services_exact, (unsigned long long)own->all.services,
                 own->planned_pages ? (double)own->common_pages / (double)own->planned_pages : 1.0,
                 own->recorded_pages ? (double)own->common_pages / (double)own->recorded_pages : 1.0);
}

static void say_other(const struct uvm_answered *a, struct outcome *o)
{
    const struct uvm_known *known = a->run->known;
    uint64_t hidden = 0;
    for (size_t p = 0; p < a->run->recording->piece_count; p++)
        hidden += page_mask_count(&known->pieces[p].maybe) - page_mask_count(&known->pieces[p].touched);
    if (known->whole)
        outcome_note(o, "bound: every page that was touched is known; what can come of them under this policy, in "
                        "whatever order, is in the bounds");
    else
        outcome_note(o,
                     "interval: %llu pages came without a fault of their own, or may have come without a record; the "
                     "intervals hold whichever of them were touched, in whatever order",
                     (unsigned long long)hidden);
}

/* --- the answer --- */

static void put_loop(struct sink *s, const struct uvm_answered *a)
{
    const struct uvm_open_loop *loop = a->exact ? &a->own.out : &a->other.out;
    put_open(s, "r_median", loop->r_median);
    put_open(s, "r_p25", loop->r_p25);
    put_open(s, "r_p75", loop->r_p75);
    if (!a->exact && loop->all.prefetched_bytes)
        put_open(s, "prefetched_used_ratio", (double)loop->all.used_bytes / (double)loop->all.prefetched_bytes);
    if (!loop->granularity_bytes)
        return;
    if (a->run->policy->learn)
        put_open(s, "granularity_final_bytes", (double)loop->granularity_bytes);
    else
        put_value(s->o, "granularity_final_bytes", (double)loop->granularity_bytes);
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

int uvm_recorded_say(const struct uvm_answered *a, struct outcome *o, struct err *err)
{
    const struct uvm_recorded_run *run = a->run;
    const struct uvm_recording *r = run->recording;
    const struct uvm_moved moved = {.fault_bytes = r->fault_pages * UVM_PAGE_BYTES,
                                    .prefetch_bytes = r->prefetch_pages * UVM_PAGE_BYTES,
                                    .user_bytes = r->user_bytes,
                                    .back_bytes = r->back_bytes,
                                    .evictions = r->evictions};
    struct sink s = {.o = o};
    struct numbers n = {.bounds = a->whole,
                        .structure = structure(run->known),
                        .order = a->exact ? &a->own.out.all : &a->other.out.all,
                        .time_ns = recorded_time(r),
                        .exact = a->exact,
                        .by = -1};
    if (a->exact) {
        add_recorded(&n, r, &a->own.out.all, &moved);
        n.time_known = r->kernels && run->known->quiet && !(r->simulated && r->span_count > 1);
        n.batches = r->batches.record_count ? just((double)r->batches.record_count) : (struct uvm_range){0, INFINITY};
        say_exact(a, o);
    } else {
        put_others(&n, a);
        n.time_ns += (double)n.order->time_ns - (double)a->own.out.all.time_ns;
        n.time_ns = round(fmax(n.time_ns, n.h2d.lo / run->platform->h2d_bytes_per_s * 1e9));
        n.batches = uvm_bounds_batches(&n.bounds, run->platform->batch_faults);
        say_other(a, o);
    }
    put_numbers(&s, &n);
    put_loop(&s, a);
    if (!n.time_known)
        open_metric(&s, "speedup_ratio");
    say_open(a, &s);
    describe(a, o);
    say_findings(a, o);
    return put_parts(a, &n, o, err);
}
