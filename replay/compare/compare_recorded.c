#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "models/gpu/launch.h"
#include "models/zerocopy/link.h"
#include "replay/compare/compare_rows.h"
#include "replay/run/measured.h"
#include "replay/uvm/second_run.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"

/* --- kernels: how long each takes with its memory in place --- */

struct ends {
    double low, high;
};

struct kernel {
    int64_t start_ns, end_ns;
    int64_t gap_ns;   /* to the next one */
    uint64_t shape;   /* of its name, grid and block; 0: several that ran at once */
    int64_t left_ns;  /* in which no fault was serviced */
    double beside_ns; /* that it may have worked beside fault service */
    uint64_t bytes;   /* that came for it */
    size_t batches;   /* 0: it ran undisturbed */
    char *name;
};

struct kernels {
    struct kernel *items;
    size_t count, cap;
    struct err *err;
};

static int add_kernel(void *to, const struct store_value *v, size_t n)
{
    const int64_t last = INT64_MAX / 4; /* differences of such times are times */
    struct kernels *k = to;
    int64_t end;
    if (n < 11 || v[3].type != STORE_INT || v[4].type != STORE_INT || v[4].i < 0 || v[3].i < -last ||
        __builtin_add_overflow(v[3].i, v[4].i, &end) || end > last)
        return 0;
    uint64_t shape = v[1].s ? XXH3_64bits(v[1].s, strlen(v[1].s)) : 1;
    for (size_t i = 5; i < 11; i++)
        shape = XXH3_64bits_withSeed(&v[i].i, sizeof v[i].i, shape);
    struct kernel is = {
        .start_ns = v[3].i, .end_ns = end, .shape = shape, .name = mem_strdup(v[1].s ? v[1].s : "?", k->err)};
    if (!is.name || MEM_ADD(k->items, k->count, k->cap, k->err, is)) {
        free(is.name);
        return -1;
    }
    return 0;
}

static int by_shape(const void *a, const void *b)
{
    const struct kernel *x = a, *y = b;
    return ORDER_OF(x->shape, y->shape);
}

/* In order of time. */
static int load_kernels(struct kernels *k, struct store *store)
{
    int rc = store_rows(store, "kernels", add_kernel, k, k->err);
    sort_items(k->items, k->count, sizeof *k->items, sorted_by_i64);
    return rc;
}

static void release_kernels(struct kernels *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->items[i].name);
    free(k->items);
}

/* Those that overlap become one. */
static void join_kernels(struct kernels *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->count; i++) {
        struct kernel *before = kept ? &k->items[kept - 1] : NULL;
        if (!before || k->items[i].start_ns >= before->end_ns) {
            if (before)
                before->gap_ns = k->items[i].start_ns - before->end_ns;
            k->items[kept++] = k->items[i];
            continue;
        }
        before->shape = 0;
        before->end_ns = k->items[i].end_ns > before->end_ns ? k->items[i].end_ns : before->end_ns;
        free(k->items[i].name);
    }
    k->count = kept;
}

static uint64_t service_bytes(const struct service *s)
{
    return s->fault_bytes + s->prefetch_bytes;
}

/* Time of [from, k->end) in which no batch was serviced; *last_ns: the end of the last one that ends in it. */
static int64_t undisturbed_ns(const struct batches *b, size_t first, const struct kernel *k, int64_t from,
                              int64_t *last_ns)
{
    int64_t sum = 0, until = from;
    for (size_t i = first; i < b->count && b->items[i].start_ns < k->end_ns; i++) {
        const struct batch *batch = &b->items[i];
        sum += batch->start_ns > until ? batch->start_ns - until : 0;
        until = batch->end_ns > until ? batch->end_ns : until;
        *last_ns = batch->end_ns <= k->end_ns && batch->end_ns > *last_ns ? batch->end_ns : *last_ns;
    }
    return sum + (k->end_ns > until ? k->end_ns - until : 0);
}

/* The share of a kernel's work that waited for a batch, as if all bytes made as much of it: who waited for the last
 * pages of a VA block had those of the block to do, and what came behind its first ones. Services [first, end). */
static double share_of(const struct services *s, size_t first, size_t end, const struct kernel *k,
                       const struct batch *last)
{
    enum { BLOCKS = 64 };
    double most = 0;
    for (size_t at = last->first; at < last->first + last->count && at < last->first + BLOCKS; at++) {
        double before = 0, block = 0, now = 0;
        for (size_t i = first; i < end; i++) {
            const double bytes = (double)service_bytes(&s->items[i]);
            const bool same = s->items[i].block_addr == s->items[at].block_addr;
            block += same ? bytes : 0;
            before += block > 0 ? 0 : bytes;
            now += same && i >= last->first && i < last->first + last->count ? bytes : 0;
        }
        if (block > 0)
            most = fmax(most, now / block * (1 - before / (double)k->bytes));
    }
    return most;
}

/* Estimate a kernel's work beside fault service, which is not recorded. After the last batch that brought data only the
 * share that had waited for it was left, so all of it takes proportionally longer. Without data each batch is one
 * share. */
static void look_beside(const struct batches *b, size_t first, struct kernel *k)
{
    const struct services *s = &b->services;
    const struct batch *last = NULL;
    size_t from = 0, end;
    int64_t last_ns = k->start_ns, none = 0;
    k->left_ns = undisturbed_ns(b, first, k, k->start_ns, &last_ns);
    for (size_t i = first; i < b->count && b->items[i].start_ns < k->end_ns; i++) {
        k->batches += b->items[i].end_ns > k->start_ns;
        if (b->items[i].count && b->items[i].end_ns <= k->end_ns && b->items[i].end_ns > k->start_ns &&
            (!last || b->items[i].end_ns >= last->end_ns))
            last = &b->items[i];
    }
    SORTED_FIRST(from, s->count, i, s->items[i].start_ns < k->start_ns);
    for (end = from; end < s->count && s->items[end].start_ns < k->end_ns; end++)
        k->bytes += service_bytes(&s->items[end]);
    const double share = last ? share_of(s, from, end, k, last) : k->batches ? 1 / (double)k->batches : 1;
    const int64_t behind = undisturbed_ns(b, first, k, last ? last->end_ns : last_ns, &none);
    const double served = (double)(k->end_ns - k->start_ns - k->left_ns);
    k->beside_ns = share > 0 ? fmin(served, (double)behind / share) : served;
}

/* With its memory in place. alike: undisturbed launches of its shape, which say it if they take about as long. */
static struct ends resident_ns(const struct platform *platform, const struct kernel *k, struct ends alike)
{
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    const struct uvm_platform *uvm = platform_section_get(platform, "uvm");
    const double all = (double)(k->end_ns - k->start_ns), left = (double)k->left_ns;
    const double work = left - (double)k->batches * uvm->walk_ns; /* each begins behind a repeated access */
    if (!k->batches)
        return (struct ends){all, all};
    if (k->shape && alike.high > 0 && alike.high <= 2 * alike.low && work <= 2 * alike.high)
        return alike;
    const double low = fmin(all, fmax(work, (double)k->bytes / gpu->dram_bytes_per_s * 1e9));
    return (struct ends){low, fmax(low, fmin(all, left + k->beside_ns))};
}

/* Those of one shape, and what lies behind each that is followed at once. */
static void add_shape(const struct platform *platform, const struct kernel *k, size_t n, struct ends *sum,
                      double *between)
{
    const struct launch *calls = platform_section_get(platform, "launch");
    struct ends alike = {INFINITY, 0};
    for (size_t i = 0; i < n; i++)
        if (!k[i].batches) {
            alike.low = fmin(alike.low, (double)(k[i].end_ns - k[i].start_ns));
            alike.high = fmax(alike.high, (double)(k[i].end_ns - k[i].start_ns));
        }
    for (size_t i = 0; i < n; i++) {
        const struct ends ns = resident_ns(platform, &k[i], alike);
        const double gap = fmin((double)k[i].gap_ns, fmax(calls->gap_ns, calls->enqueue_ns - ns.low));
        sum->low += ns.low + gap;
        sum->high += ns.high + gap;
        *between += gap;
    }
}

/* *between: of both ends, what is no kernel. */
static int sum_kernels(const struct compare_program *f, const struct uvm_recording *r, struct ends *sum,
                       double *between, struct err *err)
{
    const struct launch *calls = platform_section_get(f->platform, "launch");
    struct kernels k = {.err = err};
    struct untraced resident;
    size_t first = 0, end;
    int rc = load_kernels(&k, f->input->store);
    join_kernels(&k);
    for (size_t i = 0; i < k.count && !rc; i++) {
        while (first < r->batches.count && r->batches.items[first].end_ns <= k.items[i].start_ns)
            first++;
        look_beside(&r->batches, first, &k.items[i]);
    }
    *sum = (struct ends){calls->alone_ns, calls->alone_ns + (k.count ? 0 : (double)r->kernel_ns)};
    *between = calls->alone_ns;
    sort_items(k.items, k.count, sizeof *k.items, by_shape);
    for (size_t i = 0; i < k.count && !rc; i = end) {
        for (end = i + 1; end < k.count && k.items[end].shape == k.items[i].shape;)
            end++;
        add_shape(f->platform, &k.items[i], end - i, sum, between);
    }
    if (untraced_get(f->input->store, UNTRACED_RESIDENT, &resident))
        sum->low = sum->high = fmax(resident.median_ns, *between);
    release_kernels(&k);
    return rc;
}

/* --- transfers --- */

/* An array is needed by a kernel, and not there: for the first time, or behind the CPU's work on it. */
struct need {
    int64_t at_ns, cpu_ns; /* the first fault, the CPU's last one before it */
    size_t array;
    double bytes, served_ns; /* that came for faults, which were serviced as long */
    double saves_ns;         /* a prefetch of it; below 0: its faults take less */
    bool first, called;      /* there is one */
    bool back;               /* the CPU takes it, by so many faults */
    uint32_t faults;
};

/* What must reach the GPU before the kernels. An array is copied or prefetched again when its data come again behind
 * the CPU's work on them; prefetched again only where that takes less than the faults. */
struct transfers {
    double bytes;     /* that came, as recorded */
    double more;      /* that the CPU had written besides, in the same arrays */
    double blocks;    /* of 2 MiB, with data */
    double empty;     /* bytes of the arrays that the CPU never wrote */
    double footprint; /* of the arrays */
    double copies, calls;
    double left_bytes, left_ns; /* that still come by faults, not worth a call; and their service */
    struct need *needs;
    size_t need_count, need_cap;
    struct array { /* an allocation */
        int64_t time_ns;
        uint64_t start, end;
        size_t order;
        bool needed, there;
        uint32_t times;
        size_t need; /* the last one, from 1; 0: none */
        size_t back; /* likewise, what goes on since it was on the GPU */
    } * arrays;      /* by place and then by time */
    struct place {   /* where allocations lie that share addresses, mostly one behind the other */
        uint64_t start, end;
        size_t first, until; /* its arrays */
        double brings;       /* bytes of which is still to be said how they come */
        bool again[2];       /* copied, prefetched more than once */
    } * places;              /* by address */
    size_t count, place_count;
};

static struct place *place_at(const struct transfers *t, uint64_t addr)
{
    size_t at = 0;
    SORTED_FIRST(at, t->place_count, i, t->places[i].end <= addr);
    return at < t->place_count && t->places[at].start <= addr ? &t->places[at] : NULL;
}

static bool holds(const struct array *a, uint64_t addr)
{
    return a->start <= addr && addr < a->end;
}

/* The array last allocated at an address by then; else the first one. */
static struct array *array_at(const struct transfers *t, uint64_t addr, int64_t at_ns)
{
    const struct place *place = place_at(t, addr);
    size_t later = place ? place->first : 0;
    if (!place)
        return NULL;
    SORTED_FIRST(later, place->until, i, t->arrays[i].time_ns <= at_ns);
    for (size_t i = later; i-- > place->first;)
        if (holds(&t->arrays[i], addr))
            return &t->arrays[i];
    while (later < place->until && !holds(&t->arrays[later], addr))
        later++;
    return later < place->until ? &t->arrays[later] : NULL;
}

static int add_need(const struct uvm_recording *r, struct transfers *t, struct array *a, int64_t at_ns, struct err *err)
{
    struct need need = {
        .at_ns = at_ns, .cpu_ns = INT64_MIN, .array = (size_t)(a - t->arrays), .first = !a->need, .called = true};
    for (size_t i = 0; i < r->cpu_fault_count; i++) {
        const struct uvm_cpu_fault *cpu = &r->cpu_faults[i];
        if (cpu->addr >= a->start && cpu->addr < a->end && cpu->time_ns <= at_ns && cpu->time_ns > need.cpu_ns)
            need.cpu_ns = cpu->time_ns;
    }
    if (MEM_ADD(t->needs, t->need_count, t->need_cap, err, need))
        return -1;
    a->need = t->need_count;
    return 0;
}

static double visit_bytes(const struct uvm_visit *visit)
{
    double sum = 0;
    for (uint32_t i = 0; i < visit->count; i++)
        sum += (double)visit->migrations[i].bytes;
    return sum;
}

/* The CPU takes an array's data, a fault each time. */
static int take_back(struct transfers *t, struct array *a, int64_t at_ns, double bytes, struct err *err)
{
    const struct need need = {.at_ns = at_ns, .cpu_ns = INT64_MIN, .array = (size_t)(a - t->arrays), .back = true};
    if (!a->back && MEM_ADD(t->needs, t->need_count, t->need_cap, err, need))
        return -1;
    a->back = a->back ? a->back : t->need_count;
    t->needs[a->back - 1].bytes += bytes;
    t->needs[a->back - 1].faults++;
    return 0;
}

static int take_event(const struct uvm_recording *r, const struct uvm_event *event, struct transfers *t,
                      struct err *err)
{
    const bool in = event->kind == UVM_EVENT_BATCH;
    double all = 0;
    for (size_t v = event->first; v < event->first + event->count; v++)
        all += visit_bytes(&r->visits[v]);
    for (size_t v = event->first; v < event->first + event->count; v++) {
        struct array *a = array_at(t, r->pieces[r->visits[v].piece].start, event->start_ns);
        if (!a)
            continue;
        if (in && !a->there && add_need(r, t, a, event->start_ns, err))
            return -1;
        if (event->kind == UVM_EVENT_BACK && r->batches.count && event->start_ns > r->batches.items[0].start_ns &&
            take_back(t, a, event->start_ns, visit_bytes(&r->visits[v]), err))
            return -1;
        a->back = in ? 0 : a->back;
        if (in && all > 0) {
            const double bytes = visit_bytes(&r->visits[v]);
            t->needs[a->need - 1].bytes += bytes;
            t->needs[a->need - 1].served_ns += (double)(event->end_ns - event->start_ns) * bytes / all;
        }
        a->needed |= in;
        a->times += in && !a->there;
        a->there = in;
    }
    return 0;
}

/* Memory that came without data, of arrays that had none at all. */
static int take_faults(const struct uvm_recording *r, struct transfers *t, struct err *err)
{
    for (size_t i = 0; i < r->batches.record_count; i++) {
        const struct fault_record *fault = &r->batches.records[i];
        struct array *a = array_at(t, fault->addr, fault->start_ns);
        if (!a)
            continue;
        a->needed = true;
        if (!a->need && add_need(r, t, a, fault->start_ns, err))
            return -1;
        if (!a->times)
            t->needs[a->need - 1].served_ns += (double)(fault->end_ns - fault->start_ns);
    }
    return 0;
}

/* The recorded allocations, and the places where they lie. */
static int take_allocations(const struct uvm_recording *r, struct transfers *t, struct err *err)
{
    t->arrays = mem_zalloc(r->allocation_count + 1, sizeof *t->arrays, err);
    t->places = mem_zalloc(r->allocation_count + 1, sizeof *t->places, err);
    if (!t->arrays || !t->places)
        return -1;
    for (; t->count < r->allocation_count; t->count++) {
        const struct uvm_allocation *a = &r->allocations[t->count];
        struct place *place = t->place_count ? &t->places[t->place_count - 1] : NULL;
        if (!place || a->start >= place->end) {
            place = &t->places[t->place_count++];
            *place = (struct place){.start = a->start, .first = t->count};
        }
        place->end = a->end > place->end ? a->end : place->end;
        place->until = t->count + 1;
        t->arrays[t->count] = (struct array){a->time_ns, a->start, a->end, a->order, .need = 0};
    }
    for (size_t p = 0; p < t->place_count; p++)
        sort_items(t->arrays + t->places[p].first, t->places[p].until - t->places[p].first, sizeof *t->arrays,
                   sorted_by_i64);
    return 0;
}

static bool is_needed(const struct transfers *t, uint64_t addr)
{
    const struct place *place = place_at(t, addr);
    for (size_t i = place ? place->first : 0; place && i < place->until; i++)
        if (t->arrays[i].needed && holds(&t->arrays[i], addr))
            return true;
    return false;
}

static int count_transfers(const struct uvm_recording *r, struct transfers *t, struct err *err)
{
    const double moved = (double)r->moved_pages * UVM_PAGE_BYTES;
    double data = 0;
    if (take_allocations(r, t, err))
        return -1;
    for (size_t e = 0; e < r->event_count; e++)
        if (take_event(r, &r->events[e], t, err))
            return -1;
    if (take_faults(r, t, err))
        return -1;
    for (size_t p = 0; p < r->piece_count; p++) {
        const double pages = (double)page_mask_count(&r->pieces[p].populated) * UVM_PAGE_BYTES;
        if (!is_needed(t, r->pieces[p].start))
            continue;
        data += pages;
        t->blocks += pages > 0;
    }
    t->bytes = (double)(r->fault_pages + r->prefetch_pages) * UVM_PAGE_BYTES;
    t->more = fmax(0, data - moved);
    t->blocks += ceil((t->bytes - moved) / UVM_BLOCK_BYTES);
    for (const struct place *place = t->places; place < t->places + t->place_count; place++) {
        uint64_t start = UINT64_MAX, end = 0;
        for (const struct array *a = t->arrays + place->first; a < t->arrays + place->until; a++) {
            t->copies += a->times;
            if (!a->needed)
                continue;
            t->calls += fmax(1, a->times);
            t->empty += (double)(a->end - a->start);
            start = a->start < start ? a->start : start;
            end = a->end > end ? a->end : end;
        }
        t->footprint += end ? (double)(end - start) : 0;
    }
    t->empty = fmax(0, t->empty - data);
    return 0;
}

/* Which needs are worth a call; the first of each array has one in any case. */
static void choose_calls(const struct compare_program *f, const struct uvm_recording *r, struct transfers *t)
{
    const struct uvm_platform *uvm = platform_section_get(f->platform, "uvm");
    const struct launch *calls = platform_section_get(f->platform, "launch");
    struct untraced plain, resident;
    const bool known = untraced_get(f->input->store, UNTRACED_PLAIN, &plain);
    double served = 0, scale = known ? plain.median_ns / (double)r->kernel_ns : 1; /* faults without the profiler */
    for (size_t i = 0; i < t->need_count; i++)
        served += t->needs[i].served_ns;
    if (known && served > 0 && untraced_get(f->input->store, UNTRACED_RESIDENT, &resident))
        scale = fmax(0, plain.median_ns - resident.median_ns) / served; /* all that faults cost */
    for (size_t i = 0; i < t->need_count; i++) {
        struct need *need = &t->needs[i];
        struct array *a = &t->arrays[need->array];
        if (need->back) { /* the bytes take as long by either */
            need->saves_ns = need->faults * uvm->cpu_fault_ns - calls->prefetch_call_ns -
                             ceil(need->bytes / UVM_BLOCK_BYTES) * calls->prefetch_block_ns;
            need->called = need->saves_ns > 0;
            continue;
        }
        const double empty = need->bytes > 0 ? 0 : (double)(a->end - a->start);
        need->served_ns *= scale;
        need->saves_ns = need->served_ns - calls->prefetch_call_ns -
                         ceil(need->bytes / UVM_BLOCK_BYTES) * (calls->prefetch_block_ns + uvm->copy_run_ns) -
                         need->bytes / uvm->h2d_bytes_per_s * 1e9 - empty / calls->zero_bytes_per_s * 1e9;
        need->called = need->first || need->saves_ns > 0;
        place_at(t, a->start)->again[1] |= need->called && !need->first;
        if (need->called)
            continue;
        t->calls--;
        t->left_bytes += need->bytes;
        t->left_ns += need->served_ns;
        t->blocks -= fmin(t->blocks, floor(need->bytes / UVM_BLOCK_BYTES));
    }
}

static struct ends copies_ns(const struct compare_program *f, const struct transfers *t)
{
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const struct launch *calls = platform_section_get(f->platform, "launch");
    const double waits = t->copies * calls->wait_ns;
    return (struct ends){waits + link_copy_ns(link, t->bytes, t->copies),
                         waits + link_copy_ns(link, t->bytes + t->more, t->copies)};
}

static struct ends prefetches_ns(const struct compare_program *f, const struct transfers *t)
{
    const struct uvm_platform *uvm = platform_section_get(f->platform, "uvm");
    const struct launch *calls = platform_section_get(f->platform, "launch");
    const double low = t->calls * calls->prefetch_call_ns + t->blocks * (calls->prefetch_block_ns + uvm->copy_run_ns) +
                       (t->bytes - t->left_bytes) / uvm->h2d_bytes_per_s * 1e9 +
                       t->empty / calls->zero_bytes_per_s * 1e9 + t->left_ns;
    return (struct ends){low, low + t->more / uvm->h2d_bytes_per_s * 1e9};
}

/* --- rows --- */

void compare_put(struct outcome *out, const char *name, double low, double high)
{
    if (high > low * 1.01)
        outcome_interval(out, name, low, high);
    else
        outcome_real(out, name, (low + high) / 2);
}

/* "1.24 ms", "80 us to 0.5 ms". Returns buf. */
static const char *ends_text(const struct ends *ns, char *buf, size_t size)
{
    char low[32], high[32];
    (void)compare_time_text(ns->low, 3, low, sizeof low);
    (void)compare_time_text(ns->high, 3, high, sizeof high);
    (void)snprintf(buf, size, strcmp(low, high) == 0 ? "%s" : "%s to %s", low, high);
    return buf;
}

/* What calls for each place bring: data each time, or memory without any. */
static void count_brought(struct transfers *t, bool prefetched)
{
    for (struct place *place = t->places; place < t->places + t->place_count; place++) {
        size_t calls = 0;
        place->brings = 0;
        for (size_t i = place->first; i < place->until; i++) {
            const struct array *a = &t->arrays[i];
            place->brings += prefetched && a->needed && !a->times ? (double)(a->end - a->start) : 0;
            calls += prefetched ? a->needed : a->times;
        }
        place->again[prefetched] |= calls > 1;
    }
    for (const struct need *need = t->needs; need < t->needs + t->need_count; need++)
        if (!need->back)
            place_at(t, t->arrays[need->array].start)->brings += need->bytes;
}

static struct place *largest(const struct transfers *t)
{
    struct place *most = t->places;
    for (size_t i = 1; i < t->place_count; i++)
        most = t->places[i].brings > most->brings ? &t->places[i] : most;
    return most;
}

/* Apply the transfers by size; those below a hundredth of all are only counted. */
static void apply(struct transfers *t, bool prefetched, struct compare_row *row)
{
    double all = 0;
    size_t left = 0;
    count_brought(t, prefetched);
    for (size_t i = 0; i < t->place_count; i++) {
        all += t->places[i].brings;
        left += t->places[i].brings > 0;
    }
    for (struct place *a; left && (a = largest(t))->brings >= all / 100; a->brings = 0, left--)
        compare_plan_say(
            row, "%s the %.4g MiB at 0x%llx before the first kernel that needs them, after the CPU has written them%s",
            prefetched ? "cudaMemPrefetchAsync() of" : "cudaMalloc() and cudaMemcpy() for",
            (double)(a->end - a->start) / 0x1p20, (unsigned long long)a->start,
            a->again[prefetched] ? ", each time" : "");
    for (size_t i = 0; i < t->need_count && prefetched; i++)
        if (t->needs[i].back && t->needs[i].called)
            compare_plan_say(row,
                             "cudaMemPrefetchAsync() of the memory at 0x%llx to the CPU after the last kernel before "
                             "the CPU reads it: %u CPU faults fewer",
                             (unsigned long long)t->arrays[t->needs[i].array].start, t->needs[i].faults);
    if (left)
        compare_plan_say(row, "likewise %zu other%s, each below 1 %% of the bytes", left, left > 1 ? "s" : "");
}

/* --- where the calls of a plan stand --- */

/* The first kernel that ran at the first fault and began behind the CPU's last one; else the last that had begun. */
static const struct kernel *needed_by(const struct kernels *k, const struct need *need)
{
    const struct kernel *last = k->count ? &k->items[0] : NULL;
    for (size_t i = 0; i < k->count && k->items[i].start_ns <= need->at_ns; i++) {
        last = &k->items[i];
        if (last->end_ns >= need->at_ns && last->start_ns >= need->cpu_ns)
            return last;
    }
    return last;
}

static int add_need_call(const struct transfers *t, const struct kernels *k, const struct need *need,
                         struct compare_row *row, struct err *err)
{
    const struct kernel *by = needed_by(k, need);
    const char *name = by && !strpbrk(by->name, " \t[];") ? by->name : "*"; /* a demangled one cannot be given */
    uint32_t launch = 0;
    for (const struct kernel *before = k->items; before < by; before++)
        launch += *name == '*' || strcmp(before->name, name) == 0;
    struct compare_call call = {need->back ? COMPARE_BACK : COMPARE_PREFETCH,
                                by ? mem_strdup(name, err) : NULL,
                                launch,
                                t->arrays[need->array].order,
                                need->bytes,
                                need->saves_ns,
                                false};
    if (!by || (call.kernel && MEM_ADD(row->calls, row->call_count, row->call_cap, err, call) == 0))
        return 0;
    free((char *)call.kernel);
    return -1;
}

/* The recorded allocations, as a plan numbers them. */
static int name_allocations(const struct uvm_recording *r, struct compare_result *result, struct err *err)
{
    free(result->allocs);
    result->alloc_count = 0;
    result->allocs = mem_zalloc(r->managed + 1, sizeof *result->allocs, err);
    if (!result->allocs)
        return -1;
    result->alloc_count = r->managed;
    for (size_t i = 0; i < r->allocation_count; i++) {
        struct compare_alloc *a = &result->allocs[r->allocations[i].order];
        (void)snprintf(a->name, sizeof a->name, "0x%llx", (unsigned long long)r->allocations[i].start);
        a->bytes = r->allocations[i].bytes;
    }
    return 0;
}

static int plan_calls(const struct compare_program *f, const struct uvm_recording *r, struct transfers *t,
                      struct compare_result *result, struct compare_row *row, struct err *err)
{
    struct kernels k = {.err = err};
    int rc = name_allocations(r, result, err) || load_kernels(&k, f->input->store) ? -1 : 0;
    sort_items(t->needs, t->need_count, sizeof *t->needs, sorted_by_i64);
    for (size_t i = 0; i < t->need_count && rc == 0; i++)
        rc = t->needs[i].called ? add_need_call(t, &k, &t->needs[i], row, err) : 0;
    release_kernels(&k);
    return rc;
}

static int add_row(const struct compare_program *f, const struct uvm_recording *r, struct transfers *t,
                   const struct ends *kernels, const struct untraced *resident, bool prefetched,
                   struct compare_result *result, struct err *err)
{
    const struct ends moves = (prefetched ? prefetches_ns : copies_ns)(f, t);
    const struct compare_transfers open = prefetched ? (struct compare_transfers){0, t->calls, t->blocks, t->empty}
                                                     : (struct compare_transfers){.copies = t->copies};
    const double low = moves.low + kernels->low;
    char transfers[72], work[96];
    struct compare_row *row = compare_add(result, prefetched ? COMPARE_MANAGED : COMPARE_COPY,
                                          prefetched ? "tree, prefetched" : "cudaMemcpy", err);
    if (!row || (prefetched && json_object_set_new(row->params, "prefetch", json_string("all"))))
        return row ? err_set(err, "out of memory") : -1;
    compare_put(&row->outcome, "time_ns", low, moves.high + kernels->high);
    compare_put(&row->outcome, "h2d_bytes", t->bytes, t->bytes + t->more);
    outcome_real(&row->outcome, "d2h_bytes", (double)r->back_bytes);
    outcome_real(&row->outcome, "gpu_bytes", t->footprint);
    row->prefetched = row->stock = prefetched;
    row->activity.faulted = prefetched && t->left_bytes > 0;
    row->common_ns = row->outcome.values[0].interval ? kernels->high - kernels->low : 0;
    row->error_ratio = fmax(measured_error(prefetched ? "prefetched" : "copied", f->platform->name),
                            compare_transfers_off_by(f, &open) / low);
    if (resident)
        row->error_ratio += (resident->high_ns - resident->low_ns) / 2 / low;
    outcome_note(&row->outcome, "transfers %s, kernels %s%s", ends_text(&moves, transfers, sizeof transfers),
                 resident ? untraced_say(resident, work, sizeof work) : ends_text(kernels, work, sizeof work),
                 resident ? ", measured without the profiler and with all memory on the GPU"
                          : ": what they take without fault service, at most with the work that they did during it at "
                            "their pace after the last service");
    apply(t, prefetched, row);
    double locked = 0;
    for (const struct array *a = t->arrays; a < t->arrays + t->count; a++)
        locked += a->times ? (double)(a->end - a->start) : 0;
    if (!prefetched)
        compare_say_locked(f, t->bytes, locked, moves.low + kernels->low, &row->outcome);
    return prefetched ? plan_calls(f, r, t, result, row, err) : 0;
}

/* As recorded, where the closed loop has all other rows. */
static int add_as_it_is(const struct compare_program *f, const struct uvm_recording *r, const struct transfers *t,
                        struct compare_result *result, struct err *err)
{
    if (f->recorded_ns <= 0 || !compare_wanted(f, COMPARE_MANAGED, "tree"))
        return 0;
    struct compare_row *row = compare_add(result, COMPARE_MANAGED, "tree", err);
    if (!row)
        return -1;
    outcome_real(&row->outcome, "time_ns", f->recorded_ns);
    outcome_real(&row->outcome, "h2d_bytes", t->bytes);
    outcome_real(&row->outcome, "d2h_bytes", (double)r->back_bytes);
    outcome_real(&row->outcome, "gpu_bytes", t->footprint);
    outcome_note(&row->outcome, "as recorded");
    compare_plan_managed(f, row, "tree");
    row->stock = true;
    return 0;
}

/* Time of all the recorder's records, one after the other. */
static double traced_ns(const struct compare_program *f, const struct uvm_recording *r)
{
    const struct uvm_platform *uvm = platform_section_get(f->platform, "uvm");
    return r->simulated && !r->traced ? 0 : (double)r->batches.services.migration_count * uvm->trace_record_ns;
}

/* Say how much of the recorded time the recorder may have taken: all its records' time, or nothing where the driver had
 * time for them; with single faults up to twice the program's own (H100: nw 8.7 and 28.5 ms, conv2d 9 and 15.4). A
 * measured time without the recorder replaces that, and estimates follow it. */
static void say_traced(const struct compare_program *f, const struct uvm_recording *r, struct compare_result *result)
{
    const double records = traced_ns(f, r);
    struct untraced plain;
    const bool known = untraced_get(f->input->store, UNTRACED_PLAIN, &plain);
    const bool single_faults = store_origin_get(f->input->store, "fault_source") != NULL;
    char least[112] = "at most", text[96];
    if (!single_faults)
        (void)snprintf(least, sizeof least, "%s to",
                       compare_time_text(fmax(0, (double)r->kernel_ns - records), 2, text, sizeof text));
    for (size_t i = known ? result->resumed_rows : 0; i < result->count; i++) {
        struct compare_row *row = &result->rows[i];
        struct metric_value *time = &row->outcome.values[0];
        const bool other = !known || f->touches || row->mechanism != COMPARE_MANAGED;
        const double ratio = other ? 1 : plain.median_ns / (double)r->kernel_ns;
        time->real *= ratio;
        time->lo *= ratio;
        time->hi *= ratio;
        if (compare_as_it_is(row) && known)
            outcome_note(&row->outcome, "measured without the profiler: %s", untraced_say(&plain, text, sizeof text));
        else if (compare_as_it_is(row) && records > 0)
            outcome_note(&row->outcome, COMPARE_TRACED "; without it %s %s", least,
                         compare_time_text((double)r->kernel_ns, 3, text, sizeof text));
    }
}

/* Why the rows cannot be had, in *why; 0: they can. */
static int refuse(const struct compare_program *f, const struct uvm_recording *r, const struct transfers *t,
                  struct err *why)
{
    static const char *const sections[] = {"uvm", "launch", "pcie", "gpu"};
    const struct uvm_managed asked = {.platform = f->platform, .settings = &f->set->managed};
    const double memory = (double)uvm_managed_memory(&asked, (uint64_t)t->footprint);
    if (r->cut && !r->kernels)
        return err_set(why, "no kernel is recorded: let the program wait for them (cudaDeviceSynchronize()) before it "
                            "ends, and record it again");
    if (r->cut)
        return err_set(why, "the recording is not whole: how much more would move and run is not known");
    if (!r->kernels || !r->batches.record_count)
        return err_set(why, "no %s is recorded: how long kernels take without fault service is not known",
                       r->kernels ? "fault of the GPU" : "kernel");
    if (!r->known_sizes)
        return err_set(why, "the recording names no managed allocation: what is to be copied is not known");
    if (r->advised || r->user_bytes)
        return err_set(why, "the program's own %s decided what moved", r->advised ? "advice" : "prefetches");
    if (r->evictions || (memory > 0 && t->footprint > memory))
        return err_set(why, "the program's data does not fit the GPU's memory at once");
    int rc = 0;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && !rc; i++)
        rc = platform_whole(f->platform, sections[i], why);
    return rc;
}

/* --- a program that copies by itself: what it takes stands in the recording --- */

/* Its copies until the last kernel has ended: to the GPU, and back; behind it, which nobody waits for here. */
struct copied {
    double bytes[2], ns, copies, last_ns;
    double kernels_ns;
};

static int count_copied(const struct compare_program *f, struct copied *c, struct err *err)
{
    struct kernels k = {.err = err};
    struct recording_walk w = {0};
    int rc = load_kernels(&k, f->input->store);
    join_kernels(&k);
    const int64_t last_ns = k.count ? k.items[k.count - 1].end_ns : INT64_MIN;
    for (size_t i = 0; i < k.count; i++)
        c->kernels_ns += (double)(k.items[i].end_ns - k.items[i].start_ns);
    while (!rc && recording_walk_next(&w, f->input->store, (struct recording){RECORDING_ANY, RECORDING_ANY}, err)) {
        const struct record *r = w.at.r;
        const bool back = r->flags == RECORD_COPY_D2H;
        if (r->kind != RECORD_COPY || r->duration <= 0 || (!back && r->flags != RECORD_COPY_H2D))
            continue;
        if (r->time >= last_ns) {
            c->last_ns += back ? (double)r->duration : 0;
            continue;
        }
        c->bytes[back] += (double)r->bytes;
        c->ns += (double)r->duration;
        c->copies++;
    }
    release_kernels(&k);
    return store_walk_end(&w.at) || rc ? -1 : 0;
}

static struct compare_row *add_copied(const struct compare_program *f, const char *policy, double ns,
                                      const struct copied *c, struct compare_result *result, struct err *err)
{
    struct compare_row *row =
        compare_wanted(f, COMPARE_COPY, policy) ? compare_add(result, COMPARE_COPY, policy, err) : NULL;
    if (!row)
        return NULL;
    outcome_real(&row->outcome, "time_ns", ns + c->kernels_ns);
    outcome_real(&row->outcome, "h2d_bytes", c->bytes[0]);
    outcome_real(&row->outcome, "d2h_bytes", c->bytes[1]);
    outcome_real(&row->outcome, "back_ns", c->last_ns);
    return row;
}

/* As recorded; and from page-locked memory, where the link allows more than a twentieth less. *found: there are any. */
static int copied_rows(const struct compare_program *f, struct compare_result *result, bool *found, struct err *err)
{
    struct copied c = {.ns = 0};
    char text[3][32];
    struct err why = {""};
    if (count_copied(f, &c, err))
        return -1;
    *found = c.copies > 0 && c.kernels_ns > 0;
    if (!*found)
        return 0;
    const double bytes = c.bytes[0] + c.bytes[1];
    const double locked = platform_whole(f->platform, "pcie", &why)
                              ? INFINITY
                              : link_copy_ns(platform_section_get(f->platform, "pcie"), bytes, c.copies);
    (void)second_run_command(f->input->store, false, result->touches, sizeof result->touches);
    result->copied = true;
    struct compare_row *row = add_copied(f, "cudaMemcpy", c.ns, &c, result, err);
    if (row) {
        outcome_note(&row->outcome, COMPARE_COPIED "copies %s at %.1f GB/s, kernels %s",
                     compare_time_text(c.ns, 3, text[0], sizeof text[0]), bytes / c.ns,
                     compare_time_text(c.kernels_ns, 3, text[1], sizeof text[1]));
        compare_plan_say(row, "the program as it is");
    }
    if (c.ns < 1.05 * locked)
        return 0;
    row = add_copied(f, "cudaMemcpy, page-locked", locked, &c, result, err);
    if (row) {
        outcome_unbound(&row->outcome, "time_ns");
        outcome_note(&row->outcome, "%s's link copies page-locked memory at %.1f GB/s, %s", f->platform->name,
                     bytes / locked, compare_time_text(locked, 3, text[2], sizeof text[2]));
        compare_plan_say(row, "cudaHostAlloc() or cudaHostRegister() of the host's side of its copies");
    }
    return 0;
}

static int add_rows(const struct compare_program *f, const struct uvm_recording *r, struct transfers *t,
                    struct compare_result *result, struct err *err)
{
    struct err why;
    struct ends kernels;
    struct untraced resident;
    bool copied = false;
    int rc = refuse(f, r, t, &why);
    if (rc && !r->cut && r->kernels && !r->batches.record_count && copied_rows(f, result, &copied, err))
        return -1;
    if (copied)
        return 0;
    if (rc)
        return compare_wanted(f, COMPARE_COPY, "cudaMemcpy")
                   ? compare_refuse(result, COMPARE_COPY, "cudaMemcpy", &why, err)
                   : 0;
    double between;
    if (sum_kernels(f, r, &kernels, &between, err))
        return -1;
    const bool known = untraced_get(f->input->store, UNTRACED_RESIDENT, &resident);
    result->measured = known;
    choose_calls(f, r, t);
    result->footprint_bytes = (uint64_t)t->footprint;
    if (add_as_it_is(f, r, t, result, err))
        return -1;
    say_traced(f, r, result);
    for (int prefetched = 0; prefetched < 2 && !rc; prefetched++)
        if (compare_wanted(f, prefetched ? COMPARE_MANAGED : COMPARE_COPY,
                           prefetched ? "tree, prefetched" : "cudaMemcpy"))
            rc = add_row(f, r, t, &kernels, known ? &resident : NULL, prefetched != 0, result, err);
    return rc;
}

void compare_recorded_time(struct compare_program *f)
{
    struct uvm_recording r;
    struct transfers t = {0};
    struct untraced plain;
    struct err why = {""};
    if (uvm_input_of(f->input) != UVM_INPUT_RECORDING || !platform_has(f->platform, "uvm") ||
        uvm_recording_load(&r, f->input->store, (struct recording){RECORDING_ANY, RECORDING_ANY}, &why))
        return;
    const bool stock = !*r.policy || strncmp(r.policy, "tree", strlen("tree")) == 0;
    struct ends kernels;
    if (stock && count_transfers(&r, &t, &why) == 0 && refuse(f, &r, &t, &why) == 0 &&
        sum_kernels(f, &r, &kernels, &f->between_ns, &why) == 0) {
        const bool known = untraced_get(f->input->store, UNTRACED_PLAIN, &plain);
        f->recorded_ns = known ? plain.median_ns : (double)r.kernel_ns;
        f->recorded_low_ns = known ? plain.median_ns : fmax(0, f->recorded_ns - traced_ns(f, &r));
        f->in_place_low_ns = kernels.low - f->between_ns;
        f->in_place_ns = kernels.high - f->between_ns;
    }
    free(t.needs);
    free(t.arrays);
    free(t.places);
    uvm_recording_release(&r);
}

int compare_recorded_rows(const struct compare_program *f, struct compare_result *result, struct err *err)
{
    struct uvm_recording r;
    struct transfers t = {0};
    struct err why = {""};
    if (uvm_recording_load(&r, f->input->store, (struct recording){RECORDING_ANY, RECORDING_ANY}, &why))
        return compare_wanted(f, COMPARE_COPY, "cudaMemcpy")
                   ? compare_refuse(result, COMPARE_COPY, "cudaMemcpy", &why, err)
                   : 0;
    int rc = count_transfers(&r, &t, err) || add_rows(f, &r, &t, result, err) ? -1 : 0;
    free(t.needs);
    free(t.arrays);
    free(t.places);
    uvm_recording_release(&r);
    return rc;
}
