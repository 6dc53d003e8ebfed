/* compare_mixed: a mechanism for each allocation. Some are in GPU memory before the first kernel; the rest is read over
 * the link or managed. Mixes are tried where memory is short, or on request: with room for all, no mix of 31 programs
 * was more than 8 % faster on an H200 than one mechanism for all. A mix gets a row only if it beats each of those by
 * more than the errors. Each mix is one run of one engine:
 *
 *   MIX_LINK     copied, the rest zero-copy: simulates the program's reads with that memory on the GPU
 *                (models/zerocopy/host_reads.h), after the copies. The simulation knows the latency of the GPU's memory
 *                only. So a launch is an interval: at least its requests, and at least its time with all memory there;
 *                at most as simulated
 *   MIX_MANAGED  copied, the rest managed, where memory is short: the uvm engine without that memory
 *
 * Copies come before the first kernel, at the link's rate, as for mechanism copy. Data that the CPU takes back between
 * kernels is copied, too. Managed beside zero-copy is not tried: the uvm engine's remote pages have no cache and send
 * stores as reads, which takes a quarter to twice the zero-copy engine's time (docs/compare.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/host_reads.h"
#include "replay/compare/compare_rows.h"
#include "replay/run/measured.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/program/program_adapter.h"

enum mix_kind { MIX_LINK, MIX_MANAGED };

enum { SIMULATED_LOADS = 100000 }; /* of a launch: what replay zerocopy has where nobody says otherwise */

enum { MIX_UNITS = 6 }; /* allocations that are told apart, the largest; the last of more are one */

/* Allocations that share a mechanism. */
struct mix_unit {
    char name[32];
    uint64_t members; /* bits of facts->totals.allocs */
    uint64_t bytes;
};

struct mixing {
    const struct compare_program *facts;
    enum mix_kind kind;
    struct mix_unit units[MIX_UNITS];
    size_t count;
    double slower; /* a launch with all memory on the GPU takes so many times what it takes by the issue model */
};

/* An assignment and what its engine says. */
struct mix {
    uint32_t ahead; /* bit i: unit i is on the GPU before the first kernel */
    bool asked, failed;
    double time;   /* ns: as its engine has it, stores of MIX_LINK beside the reads */
    double lo, hi; /* MIX_LINK: requests beside kernels, at no latency; all as simulated */
    double h2d, d2h, outside, back_ns, gpu_bytes, copy_ns; /* outside: of d2h, not in its time */
    struct uvm_managed_activity activity;                  /* of a run of the uvm engine */
    struct err err;                                        /* of a failure */
};

/* Bits of facts->totals.allocs that are on the GPU, and their bytes. */
static uint64_t mix_members(const struct mixing *m, uint32_t ahead)
{
    uint64_t members = 0;
    for (size_t i = 0; i < m->count; i++)
        members |= ahead >> i & 1 ? m->units[i].members : 0;
    return members;
}

static double mix_bytes(const struct mixing *m, uint32_t ahead)
{
    double bytes = 0;
    for (size_t i = 0; i < m->count; i++)
        bytes += ahead >> i & 1 ? (double)m->units[i].bytes : 0;
    return bytes;
}

/* --- copies --- */

/* Copies of those allocations alone. -1 with *err set: out of memory. */
static int mix_copies(const struct compare_program *f, uint64_t members, struct program_copies *copies, struct err *err)
{
    struct program_totals some = f->totals;
    struct program_alloc *allocs = mem_zalloc(some.alloc_count, sizeof *allocs, err);
    some.launch = allocs ? mem_zalloc(some.launches, sizeof *some.launch, err) : NULL;
    int rc = some.launch ? 0 : -1;
    for (size_t i = 0; i < some.alloc_count && rc == 0; i++) {
        allocs[i] = f->totals.allocs[i];
        allocs[i].host &= members >> i & 1;
    }
    for (uint32_t l = 0; l < some.launches && rc == 0; l++) {
        some.launch[l] = f->totals.launch[l];
        some.launch[l].touched &= members;
        some.launch[l].modified &= members;
    }
    some.allocs = allocs;
    if (rc == 0)
        program_copies_count(copies, &some);
    free(some.launch);
    free(allocs);
    return rc;
}

static double mix_error(const struct mixing *m)
{
    return measured_error(m->kind == MIX_LINK ? "zero-copy" : "managed", m->facts->platform->name);
}

static int take_copies(const struct mixing *m, struct mix *mix)
{
    const struct compare_program *f = m->facts;
    struct program_copies c;
    if (mix_copies(f, mix_members(m, mix->ahead), &c, &mix->err))
        return -1;
    mix->copy_ns = compare_copies_ns(f, &c);
    mix->h2d = (double)c.in_bytes;
    mix->d2h = (double)(c.back_bytes - c.last_bytes);
    mix->back_ns = c.last_copies ? link_copy_ns(platform_section_get(f->platform, "pcie"), (double)c.last_bytes,
                                                (double)c.last_copies)
                                 : 0;
    return 0;
}

/* --- the rest is read over the link --- */

struct reading {
    const struct mixing *mixing;
    double time, least; /* ns: as simulated, and at least */
    double payload, requests;
    double host_ns; /* when the host makes its next call */
};

/* No launch is faster than with all its memory on the GPU, nor than its requests; without any it is as copied. */
static int take_launch(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err)
{
    struct reading *r = ctx;
    const struct launch_totals *launch = &r->mixing->facts->totals.launch[number];
    const struct pcie *link = platform_section_get(r->mixing->facts->platform, "pcie");
    (void)err;
    const struct launch *calls = platform_section_get(r->mixing->facts->platform, "launch");
    const double before = r->time;
    if (launch->cpu)
        r->host_ns = r->time;
    if (launch->cpu)
        return 0;
    double kernel = launch->ms * 1e6 * r->mixing->slower;
    bool asks = mix_requests(&count->mix) > 0;
    const double work = asks ? fmax(count->time_ns, kernel) : kernel;
    r->time = launch_start_ns(calls, &r->host_ns, r->time) + work;
    if (launch->waited)
        r->time = launch_wait_ns(calls, &r->host_ns, r->time);
    r->least += r->time - before - work;
    r->least += fmax(kernel, asks ? fmin(count->time_ns, link_service_ns(link, &count->mix)) : 0);
    r->payload += (double)mix_payload(&count->mix);
    r->requests += (double)mix_requests(&count->mix);
    return 0;
}

/* Bytes that kernels store to memory of the host. */
static double stored(const struct compare_program *f, uint64_t on_gpu)
{
    double bytes = 0;
    for (size_t i = 0; i < f->totals.alloc_count; i++)
        bytes += on_gpu >> i & 1 ? 0 : (double)f->totals.modified_of[i];
    return bytes;
}

static int ask_link(const struct mixing *m, const struct program *program, struct mix *mix)
{
    const struct compare_program *f = m->facts;
    struct reading r = {.mixing = m};
    const struct pcie *link = platform_section_get(f->platform, "pcie");
    const struct host_reads how = {.gpu = platform_section_get(f->platform, "gpu"),
                                   .pcie = link,
                                   .program = program,
                                   .weights = f->weights,
                                   .most_loads = SIMULATED_LOADS,
                                   .on_launch = take_launch,
                                   .ctx = &r};
    if (host_reads_run(&how, &mix->err))
        return -1;
    const double stores = stored(f, mix_members(m, mix->ahead));
    mix->time = mix->copy_ns + link_beside_ns(link, r.time, r.requests, stores, LINE_BYTES);
    mix->lo = mix->copy_ns + link_beside_ns(link, r.least, r.requests, stores, LINE_BYTES);
    mix->hi = mix->copy_ns + compare_stores_behind_ns(f, r.time, r.requests, stores);
    mix->h2d += r.payload;
    mix->d2h += stores;
    mix->gpu_bytes = mix_bytes(m, mix->ahead) + (double)f->device_bytes;
    return 0;
}

/* --- the rest is managed --- */

static int ask_managed(const struct mixing *m, const struct program *program, struct mix *mix)
{
    const struct compare_program *f = m->facts;
    struct uvm_managed_settings settings = f->set->managed;
    struct actor_input touching;
    struct uvm_metrics metrics;
    settings.oversubscription_pct = 0;
    settings.gpu_memory_bytes = (int64_t)((double)f->memory - mix_bytes(m, mix->ahead));
    if (actor_input_program(&touching, program, &mix->err))
        return -1;
    const struct uvm_managed asked = {.ops = touching.ops,
                                      .state = touching.state,
                                      .store = touching.store,
                                      .platform = f->platform,
                                      .settings = &settings};
    int rc = uvm_managed_run(&asked, &metrics, &mix->err);
    actor_input_close(&touching);
    if (rc)
        return -1;
    mix->time = mix->lo = mix->hi = mix->copy_ns + (double)metrics.time_ns;
    mix->h2d += (double)(metrics.h2d_bytes + metrics.remote_bytes);
    mix->d2h += (double)metrics.d2h_bytes;
    mix->outside = (double)(metrics.d2h_bytes - metrics.evicted_bytes);
    mix->activity = uvm_managed_activity(&metrics);
    mix->gpu_bytes = (double)(f->memory + f->device_bytes);
    return 0;
}

/* Ask the engine; mix->ahead is set. */
static void mix_ask(const struct mixing *m, struct mix *mix)
{
    mix->asked = true;
    struct program_placed p;
    program_placed_init(&p, &m->facts->touching.program, mix_members(m, mix->ahead));
    mix->failed = take_copies(m, mix) || (m->kind == MIX_LINK ? ask_link : ask_managed)(m, &p.adapter.program, mix);
}

/* --- units --- */

/* The largest first, the first of equal ones first; those behind the fifth share a unit if they are more than one. */
static void take_units(struct mixing *m)
{
    const struct program_totals *t = &m->facts->totals;
    uint64_t left = 0;
    for (size_t i = 0; i < t->alloc_count && i < 64; i++)
        left |= t->allocs[i].device ? 0 : UINT64_C(1) << i;
    for (m->count = 0; left; m->count++) {
        struct mix_unit *u = &m->units[m->count];
        size_t best = 64;
        for (size_t i = 0; i < t->alloc_count && i < 64; i++)
            if (left >> i & 1 && (best == 64 || t->allocs[i].bytes > t->allocs[best].bytes))
                best = i;
        bool others = m->count == MIX_UNITS - 1 && (left & (left - 1));
        *u = (struct mix_unit){.members = others ? left : UINT64_C(1) << best};
        (void)snprintf(u->name, sizeof u->name, "%s", others ? "the small ones" : t->allocs[best].name);
        for (size_t i = 0; i < t->alloc_count && i < 64; i++)
            u->bytes += u->members >> i & 1 ? t->allocs[i].bytes : 0;
        left &= ~u->members;
    }
}

static const struct {
    const char *ahead, *rest;
} mix_words[] = {
    [MIX_LINK] = {"copied", "zero-copy"},
    [MIX_MANAGED] = {"copied", "managed"},
};

/* "a, b copied, the rest zero-copy". */
static void name_of(const struct mixing *m, uint32_t ahead, char *name, size_t size)
{
    *name = 0;
    for (size_t i = 0; i < m->count; i++)
        if (ahead >> i & 1)
            (void)mem_add_text(name, size, "%s%s", *name ? ", " : "", m->units[i].name);
    (void)mem_add_text(name, size, " %s, the rest %s", mix_words[m->kind].ahead, mix_words[m->kind].rest);
}

/* --- search --- */

struct search {
    const struct mixing *mixing;
    struct mix mixes[1u << MIX_UNITS];
    double bound;     /* ns: what copies take longer than is not asked; INFINITY: all is */
    double all, none; /* ns, with all units on the GPU, and none; INFINITY: not known */
    double error;     /* of the engine, relative */
};

/* Whether a mix is a real one, has room, and can be the best: its copies alone take no longer than the bound. */
static bool worth(const struct search *s, uint32_t ahead)
{
    const struct mixing *m = s->mixing;
    const struct compare_program *f = m->facts;
    char name[160];
    struct program_copies c;
    struct err ignored;
    name_of(m, ahead, name, sizeof name);
    if (!ahead || ahead == (1u << m->count) - 1 || !compare_wanted(f, COMPARE_MIXED, name))
        return false;
    if (f->memory && mix_bytes(m, ahead) + (m->kind == MIX_MANAGED ? (double)ACTOR_BLOCK_BYTES : 0) > (double)f->memory)
        return false;
    return f->only || mix_copies(f, mix_members(m, ahead), &c, &ignored) || compare_copies_ns(f, &c) <= s->bound;
}

/* Run the mixes of the list that have not run. */
static void ask(struct search *s, const uint32_t *list, size_t n)
{
    int threads = s->mixing->facts->request->threads > 0 ? s->mixing->facts->request->threads : 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t i = 0; i < n; i++) {
        struct mix *mix = &s->mixes[list[i]];
        if (mix->asked || !worth(s, list[i]))
            continue;
        mix->ahead = list[i];
        mix_ask(s->mixing, mix);
        progress_add(s->mixing->facts->request->progress, 1);
    }
}

static const struct mix *best_of(const struct search *s)
{
    const struct mix *best = NULL;
    for (uint32_t a = 0; a < 1u << s->mixing->count; a++) {
        const struct mix *x = &s->mixes[a];
        if (x->asked && !x->failed && (!best || x->time < best->time))
            best = x;
    }
    return best;
}

/* Search from the better of all or none on the GPU: try all mixes that differ in one unit, and go on from the best
 * while it gains more than the engine's error. A draw runs only the wanted ones. */
static const struct mix *search(struct search *s)
{
    size_t n = s->mixing->count;
    uint32_t list[1u << MIX_UNITS], all = (1u << n) - 1, at = s->all < s->none ? all : 0;
    double time = at ? s->all : s->none;
    if (s->mixing->facts->only) {
        for (uint32_t a = 1; a < all; a++)
            list[a - 1] = a;
        ask(s, list, all - 1);
        return best_of(s);
    }
    for (;;) {
        for (size_t k = 0; k < n; k++)
            list[k] = at ^ 1u << k;
        ask(s, list, n);
        const struct mix *best = best_of(s);
        if (!best || best->time * (1 + s->error) >= time)
            return best;
        at = best->ahead;
        time = best->time;
    }
}

/* --- rows --- */

static void apply(const struct mixing *m, const struct mix *mix, struct compare_row *row)
{
    const struct compare_program *f = m->facts;
    uint64_t on_gpu = mix_members(m, mix->ahead);
    struct program_copies c;
    struct err why;
    if (mix_copies(f, on_gpu, &c, &why)) {
        outcome_fail(&row->outcome, &why);
        return;
    }
    for (size_t i = 0; i < f->totals.alloc_count; i++) {
        const struct program_alloc *a = &f->totals.allocs[i];
        unsigned long long bytes = a->bytes;
        if (a->device)
            continue;
        if (!(on_gpu >> i & 1))
            compare_plan_say(row,
                             m->kind == MIX_LINK
                                 ? "%s: cudaHostAlloc() with cudaHostAllocMapped, %llu bytes, on a multiple "
                                   "of 128 bytes; kernels read it there"
                                 : "%s: cudaMallocManaged(), %llu bytes; it comes as kernels touch it",
                             a->name, bytes);
        else
            compare_plan_say(row,
                             c.copied >> i & 1 && a->host
                                 ? "%s: cudaMalloc(), %llu bytes, and cudaMemcpy() before the first kernel"
                                 : "%s: cudaMalloc(), %llu bytes; nothing is copied in",
                             a->name, bytes);
    }
}

static int put_params(const struct mixing *m, const struct mix *mix, struct compare_row *row, struct err *err)
{
    const struct program_totals *t = &m->facts->totals;
    uint64_t on_gpu = mix_members(m, mix->ahead);
    json_t *ahead = json_array(), *rest = json_array();
    for (size_t i = 0; i < t->alloc_count; i++)
        if (!t->allocs[i].device)
            json_tree_add(on_gpu >> i & 1 ? &ahead : &rest, json_string(t->allocs[i].name));
    json_tree_put(&row->params, mix_words[m->kind].ahead, ahead);
    json_tree_put(&row->params, mix_words[m->kind].rest, rest);
    return json_tree_check(row->params, err);
}

/* Whether the mix, which is the last row, is faster than every row of one mechanism by more than the errors. */
static bool beats_all(const struct compare_result *result)
{
    struct compare_row mix = result->rows[result->count - 1];
    mix.answered = true;
    for (size_t i = 0; i + 1 < result->count; i++) {
        struct compare_row other = result->rows[i];
        other.answered = !isnan(compare_time(&other)) && !outcome_get(&other.outcome, "time_ns")->unbound;
        if (other.mechanism != COMPARE_MIXED && other.answered &&
            (compare_time(&other) <= compare_time(&mix) || compare_tied(&mix, &other)))
            return false;
    }
    return true;
}

static int add_row(const struct mixing *m, const struct mix *mix, struct compare_result *result, struct err *err)
{
    char name[160];
    name_of(m, mix->ahead, name, sizeof name);
    struct compare_row *row = compare_add(result, COMPARE_MIXED, name, err);
    if (!row)
        return -1;
    struct outcome *out = &row->outcome;
    double footprint = (double)m->facts->footprint;
    outcome_real(out, "time_ns", mix->time);
    if (mix->hi > mix->lo)
        outcome_interval(out, "time_ns", mix->lo, mix->hi);
    outcome_real(out, "h2d_bytes", mix->h2d);
    outcome_real(out, "d2h_bytes", mix->d2h);
    out->outside_bytes[1] = mix->outside;
    outcome_real(out, "gpu_bytes", mix->gpu_bytes);
    outcome_real(out, "read_amplification_ratio", footprint > 0 ? mix->h2d / footprint : NAN);
    if (m->kind == MIX_LINK)
        outcome_real(out, "back_ns", mix->back_ns);
    outcome_note(out, "%.4g ms are copies, then one run of the %s engine: nothing overlaps", mix->copy_ns / 1e6,
                 m->kind == MIX_LINK ? "zero-copy" : "uvm");
    outcome_note(out, "mixes of managed memory and zero-copy are left out: no engine simulates both together");
    row->error_ratio = mix_error(m);
    compare_calls_error(m->facts, row);
    row->activity = mix->activity;
    apply(m, mix, row);
    if (!m->facts->only && !beats_all(result)) {
        compare_row_release(row);
        result->count--;
        return 0;
    }
    return put_params(m, mix, row, err);
}

/* The best time so far at its worst end: a mix whose copies alone take longer cannot be better. */
static double bound_of(const struct compare_result *result)
{
    double bound = INFINITY;
    for (size_t i = 0; i < result->count; i++) {
        const struct metric_value *v = outcome_get(&result->rows[i].outcome, "time_ns");
        if (v->known && !v->unbound)
            bound = fmin(bound, v->interval ? v->hi : v->real);
    }
    return bound;
}

/* The best time of a mechanism, of one policy if it has a name. */
static double time_of(const struct compare_result *result, enum compare_mechanism mechanism, const char *policy)
{
    double time = INFINITY;
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].mechanism == mechanism && (!policy || strcmp(result->rows[i].policy, policy) == 0) &&
            !isnan(compare_time(&result->rows[i])))
            time = fmin(time, compare_time(&result->rows[i]));
    return time;
}

static int add_kind(struct mixing *m, enum mix_kind kind, struct compare_result *result, struct err *err)
{
    struct search *s = mem_zalloc(1, sizeof *s, err);
    const bool link = kind == MIX_LINK;
    if (!s)
        return -1;
    m->kind = kind;
    s->mixing = m;
    s->bound = bound_of(result);
    s->error = mix_error(m);
    s->all = time_of(result, COMPARE_COPY, NULL);
    s->none = link ? time_of(result, COMPARE_ZEROCOPY, NULL) : time_of(result, COMPARE_MANAGED, "tree");
    const struct mix *best = search(s);
    int rc = 0;
    for (uint32_t a = 1; a < 1u << m->count; a++)
        if (s->mixes[a].failed && err_pass_memory(&s->mixes[a].err, err))
            rc = -1;
    if (best && rc == 0)
        rc = add_row(m, best, result, err);
    free(s);
    return rc;
}

/* The kernels of the mechanism copy over what each launch takes alone. */
static double slower_by(const struct compare_program *f, const struct uvm_metrics *prefetched)
{
    double alone = 0;
    for (uint32_t l = 0; l < f->totals.launches; l++)
        alone += f->totals.launch[l].ms * 1e6;
    const double launches = compare_kernels_ns(f, &(struct uvm_metrics){0}) - alone;
    return alone > 0 ? fmax(1e-3, (compare_kernels_ns(f, prefetched) - launches) / alone) : 1;
}

int compare_mixed_rows(const struct compare_program *f, struct compare_result *result,
                       const struct uvm_metrics *prefetched, struct err *err)
{
    struct err why;
    struct mixing m = {.facts = f};
    bool short_of_memory = !compare_fits(f) && f->footprint <= COMPARE_MIXED_MOST && !f->request->part;
    if (!f->counted || platform_has(f->platform, "placement") || !compare_wanted(f, COMPARE_MIXED, NULL) ||
        !(short_of_memory || f->request->mixed || f->only))
        return 0;
    take_units(&m);
    m.slower = slower_by(f, prefetched);
    if (m.count < 2)
        return 0;
    bool link = platform_whole(f->platform, "pcie", &why) == 0, uvm = platform_whole(f->platform, "uvm", &why) == 0;
    const struct pcie *pcie = platform_section_get(f->platform, "pcie");
    if (link && pcie->load_ns > 0 && add_kind(&m, MIX_LINK, result, err)) /* else its simulation has no latency */
        return -1;
    return uvm && link && !compare_fits(f) ? add_kind(&m, MIX_MANAGED, result, err) : 0;
}
