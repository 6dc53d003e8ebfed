#include "replay/compare/compare_mixed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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
} words[] = {
    [MIX_LINK] = {"copied", "zero-copy"},
    [MIX_MANAGED] = {"copied", "managed"},
};

/* "a, b copied, the rest zero-copy". */
static void name_of(const struct mixing *m, uint32_t ahead, char *name, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < m->count && n < size; i++)
        if (ahead >> i & 1)
            n += (size_t)snprintf(name + n, size - n, "%s%s", n ? ", " : "", m->units[i].name);
    if (n < size)
        (void)snprintf(name + n, size - n, " %s, the rest %s", words[m->kind].ahead, words[m->kind].rest);
}

/* --- search --- */

struct search {
    const struct mixing *mixing;
    struct mix mixes[1u << MIX_UNITS];
    double bound;     /* ns: what copies take longer than is not asked; INFINITY: all is */
    double all, none; /* ns, with all units on the GPU, and none; INFINITY: not known */
    double error;     /* of the engine, relative */
};

/* Whether a mix is one, has room, and can still be the best: copies alone take no longer than the bound. */
static bool worth(const struct search *s, uint32_t ahead)
{
    const struct mixing *m = s->mixing;
    const struct compare_facts *f = m->facts;
    char name[160];
    struct program_copies c;
    struct err ignored;
    name_of(m, ahead, name, sizeof name);
    if (!ahead || ahead == (1u << m->count) - 1 || !compare_wanted(f, COMPARE_MIXED, name))
        return false;
    if (f->memory && mix_bytes(m, ahead) + (m->kind == MIX_MANAGED ? (double)ACTOR_BLOCK_BYTES : 0) > (double)f->memory)
        return false;
    return f->only || mix_copies(f, mix_members(m, ahead), &c, &ignored) || mix_copies_ns(f, &c) <= s->bound;
}

/* Ask for those of the list that nobody has asked for yet. */
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

/* From the better of all and none on the GPU: whatever differs in one unit, and on from the best of those as long as
 * that is better by more than the engine's error. Of a draw: what is wanted. */
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
    const struct compare_facts *f = m->facts;
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
            compare_apply(row,
                          m->kind == MIX_LINK
                              ? "%s: cudaHostAlloc() with cudaHostAllocMapped, %llu bytes, on a multiple "
                                "of 128 bytes; kernels read it there"
                              : "%s: cudaMallocManaged(), %llu bytes; it comes as kernels touch it",
                          a->name, bytes);
        else
            compare_apply(row,
                          c.copied >> i & 1 && a->host
                              ? "%s: cudaMalloc(), %llu bytes, and cudaMemcpy() before the first kernel"
                              : "%s: cudaMalloc(), %llu bytes; nothing is copied in",
                          a->name, bytes);
    }
}

static int put_params(const struct mixing *m, const struct mix *mix, struct compare_row *row)
{
    const struct program_totals *t = &m->facts->totals;
    uint64_t on_gpu = mix_members(m, mix->ahead);
    json_t *ahead = json_array(), *rest = json_array();
    int bad = 0;
    for (size_t i = 0; i < t->alloc_count; i++)
        if (!t->allocs[i].device)
            bad |= json_array_append_new(on_gpu >> i & 1 ? ahead : rest, json_string(t->allocs[i].name));
    bad |= json_object_set_new(row->params, words[m->kind].ahead, ahead);
    return bad | json_object_set_new(row->params, words[m->kind].rest, rest);
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
    outcome_real(out, "gpu_bytes", mix->gpu_bytes);
    outcome_real(out, "read_amplification_ratio", footprint > 0 ? mix->h2d / footprint : NAN);
    if (m->kind == MIX_LINK)
        outcome_real(out, "back_ns", mix->back_ns);
    outcome_note(out, "%.4g ms are copies, then one run of the %s engine: nothing overlaps", mix->copy_ns / 1e6,
                 m->kind == MIX_LINK ? "zero-copy" : "uvm");
    outcome_note(out,
                 "managed memory beside memory that is read over the link is not asked: no engine simulates both as it "
                 "does each");
    row->error_ratio = engine_find(m->kind == MIX_LINK ? "zerocopy" : "uvm")->error;
    row->did = mix->did;
    apply(m, mix, row);
    if (!m->facts->only && !beats_all(result)) {
        compare_row_release(row);
        result->count--;
        return 0;
    }
    return put_params(m, mix, row) ? err_set(err, "out of memory") : 0;
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

static void begin(struct search *s, const struct mixing *m, const struct compare_result *result)
{
    bool link = m->kind == MIX_LINK;
    s->mixing = m;
    s->bound = bound_of(result);
    s->error = engine_find(link ? "zerocopy" : "uvm")->error;
    s->all = time_of(result, COMPARE_COPY, NULL);
    s->none = link ? time_of(result, COMPARE_ZEROCOPY, NULL) : time_of(result, COMPARE_MANAGED, "tree");
}

static int add_kind(struct mixing *m, enum mix_kind kind, struct compare_result *result, struct err *err)
{
    struct search *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return -1;
    m->kind = kind;
    begin(s, m, result);
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
static double slower_by(const struct compare_facts *f, const struct uvm_metrics *prefetched)
{
    double alone = 0;
    for (uint32_t l = 0; l < f->totals.launches; l++)
        alone += f->totals.launch[l].ms * 1e6;
    return alone > 0 ? compare_kernels_ns(f, prefetched) / alone : 1;
}

int compare_mixed_rows(const struct compare_facts *f, struct compare_result *result,
                       const struct uvm_metrics *prefetched, struct err *err)
{
    struct err why;
    struct mixing m = {.facts = f};
    bool short_of_memory = !compare_fits(f) && f->footprint <= COMPARE_MIXED_MOST;
    if (!f->counted || platform_has(f->platform, "placement") || !compare_wanted_any(f, COMPARE_MIXED) ||
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
