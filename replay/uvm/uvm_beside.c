#include "replay/uvm/uvm_beside.h"

#include <stdlib.h>
#include <string.h>

#include "replay/uvm/actor_trace.h"
#include "trace/base/mem.h"

const struct input *uvm_beside_input(const struct replay_job *job)
{
    for (size_t i = 0; i < job->input_count; i++)
        if (job->inputs[i].role && strcmp(job->inputs[i].role, "touches") == 0)
            return &job->inputs[i];
    return NULL;
}

bool uvm_beside_first_only(const struct input *touches)
{
    return touches->store && store_origin_get(touches->store, "touches");
}

/* --- which pages are touched --- */

struct marking {
    const struct uvm_recording *recording;
    const struct actor_alloc *allocs;
    size_t alloc_count;
    int64_t *shifts; /* of each allocation: address in the recording less that of the touches */
    struct page_mask *touched;
    uint64_t outside;
};

static void mark(struct marking *m, uint32_t page)
{
    size_t lo = 0, hi = m->alloc_count;
    while (lo + 1 < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->allocs[mid].first_page <= page)
            lo = mid;
        else
            hi = mid;
    }
    const struct actor_alloc *a = &m->allocs[lo];
    uint64_t addr = a->addr + (uint64_t)(page - a->first_page) * ACTOR_PAGE_BYTES + (uint64_t)m->shifts[lo];
    const struct uvm_piece *piece = uvm_recording_piece(m->recording, addr);
    if (piece)
        page_mask_set(&m->touched[piece - m->recording->pieces], uvm_block_page(&piece->shape, addr));
    else
        m->outside++;
}

static int mark_actor(struct marking *m, const struct actor_ops *ops, void *run, uint32_t launch, uint32_t actor,
                      struct actor_step *step, struct err *err)
{
    struct actor_at at = {0};
    int rc;
    while ((rc = ops->step(run, launch, actor, &at, step, err)) == 1)
        for (uint32_t i = 0; i < step->count + step->stores; i++)
            mark(m, step->page[i]);
    return rc;
}

static int mark_all(struct marking *m, const struct actor_ops *ops, const void *state, struct err *err)
{
    struct actor_step *step = mem_zalloc(1, sizeof *step, err);
    void *run = ops->run_open ? ops->run_open(state, err) : (void *)(uintptr_t)state;
    int rc = step && run ? 0 : -1;
    for (uint32_t l = 0; rc == 0 && l < ops->launches(state); l++) {
        struct actor_launch launch;
        ops->launch(state, l, &launch);
        for (uint32_t a = 0; rc == 0 && a < launch.actors && !launch.cpu; a++)
            rc = mark_actor(m, ops, run, l, a, step, err);
    }
    if (ops->run_close && run)
        ops->run_close(run);
    free(step);
    return rc;
}

/* --- the same program? --- */

static uint64_t pages_of(uint64_t addr, uint64_t bytes)
{
    return (addr + bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES - addr / ACTOR_PAGE_BYTES;
}

/* Match the allocations by their order; false if they do not agree. */
static bool match(struct marking *m)
{
    const struct uvm_recording *r = m->recording;
    if (r->allocation_count != m->alloc_count)
        return false;
    for (size_t a = 0; a < m->alloc_count; a++) {
        m->shifts[a] = (int64_t)(r->allocations[a].start - m->allocs[a].addr);
        if (m->shifts[a] % ACTOR_BLOCK_BYTES ||
            pages_of(m->allocs[a].addr, m->allocs[a].bytes) !=
                (r->allocations[a].end - r->allocations[a].start) / ACTOR_PAGE_BYTES)
            return false;
    }
    return true;
}

static uint64_t missing(const struct uvm_known *known, const struct page_mask *touched)
{
    uint64_t n = 0;
    for (size_t p = 0; p < known->recording->piece_count; p++) {
        struct page_mask rest;
        page_mask_andnot(&rest, &known->pieces[p].touched, &touched[p]);
        n += page_mask_count(&rest);
    }
    return n;
}

/* Launches of kernels. */
static uint64_t launches(const struct actor_ops *ops, const void *state)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < ops->launches(state); l++) {
        struct actor_launch launch;
        ops->launch(state, l, &launch);
        n += !launch.cpu;
    }
    return n;
}

/* Not a page too few, no launch and no page too many, as far as the recording tells. */
static int judge(const struct uvm_recording *r, uint64_t untouched, uint64_t outside, uint64_t launched,
                 struct err *err)
{
    if (untouched)
        return err_set(err,
                       "%llu of the pages that faulted in the recording are not touched: it is of another program, or "
                       "its memory lies elsewhere",
                       (unsigned long long)untouched);
    if (r->known_sizes && !r->more_memory && outside)
        return err_set(err,
                       "%llu touches lie outside of the allocations that the recording names: it is of a larger "
                       "program",
                       (unsigned long long)outside);
    if (r->kernels && launched > r->kernels)
        return err_set(err, "it is of %llu launches, the recording of %llu: it is of a larger program",
                       (unsigned long long)launched, (unsigned long long)r->kernels);
    return 0;
}

/* Take note of what the actors touch, by piece. Touches that lie in no piece of the recording are left out; *outside:
 * how many. -1 with *err set if the touches are not of the recorded program. */
static int check(const struct uvm_known *known, const struct actor_ops *ops, const void *state,
                 struct page_mask *touched, uint64_t *outside, struct err *err)
{
    struct marking m = {.recording = known->recording, .touched = touched};
    m.allocs = ops->allocs(state, &m.alloc_count);
    m.shifts = mem_zalloc(m.alloc_count, sizeof *m.shifts, err);
    int rc = m.shifts ? mark_all(&m, ops, state, err) : -1;
    uint64_t first = rc ? 0 : missing(known, touched), rest = first;
    if (first && match(&m)) {
        memset(touched, 0, known->recording->piece_count * sizeof *touched);
        m.outside = 0;
        rc = mark_all(&m, ops, state, err);
        rest = rc ? 0 : missing(known, touched);
    }
    free(m.shifts);
    *outside = m.outside;
    return rc ? rc : judge(known->recording, rest ? first : 0, m.outside, launches(ops, state), err);
}

/* What the recording leaves open of touches that fit it. */
static void say_open(const struct uvm_recording *r, const struct actor_ops *ops, const void *state, uint64_t outside,
                     struct outcome *note)
{
    const uint64_t launched = launches(ops, state);
    if (outside)
        outcome_note(
            note,
            "touches: %llu lie in memory that the recording does not show: memory without data, or of a larger "
            "program, which cannot be told as the recording does not name its allocations",
            (unsigned long long)outside);
    if (launched < r->kernels)
        outcome_note(note,
                     "touches: of %llu launches, the recording has %llu kernels: the others are taken to touch "
                     "nothing",
                     (unsigned long long)launched, (unsigned long long)r->kernels);
}

int uvm_beside_fits(const struct replay_job *job, struct recording wanted, const struct actor_ops *ops,
                    const void *state, struct outcome *notes, struct err *err)
{
    struct uvm_recording r;
    struct uvm_known known = {0};
    uint64_t outside = 0;
    if (uvm_recording_load(&r, job->inputs[0].store, wanted, err))
        return -1;
    int rc = uvm_known_init(&known, &r, err);
    struct page_mask *touched = rc ? NULL : mem_zalloc(r.piece_count, sizeof *touched, err);
    if (rc == 0)
        rc = touched ? check(&known, ops, state, touched, &outside, err) : -1;
    for (size_t i = 0; rc == 0 && i < job->policy_count; i++)
        say_open(&r, ops, state, outside, &notes[i]);
    free(touched);
    uvm_known_release(&known);
    uvm_recording_release(&r);
    return rc;
}

/* --- first touches --- */

static int count_row(void *ctx, const struct store_value *values, size_t n)
{
    (void)values;
    (void)n;
    ++*(int *)ctx;
    return 0;
}

/* Whether the file may lack some, of a program of so many kernels (where it names its own). -1 with *err set. */
static int is_part(struct store *store, uint64_t kernels, struct err *err)
{
    int lost = 0, seen = 0;
    if (store_rows(store, "dropped", count_row, &lost, err) || store_rows(store, "kernels", count_row, &seen, err))
        return -1;
    return lost || (seen && (uint64_t)seen < kernels) || !store_complete(store) ||
           store_origin_get(store, "sample_every") || store_origin_get(store, "kernels.chosen");
}

static void narrow(struct uvm_known *known, const struct page_mask *touched, bool all)
{
    if (all) {
        known->complete = known->whole = known->whole_data = true;
    }
    for (size_t p = 0; p < known->recording->piece_count; p++) {
        struct uvm_evidence *e = &known->pieces[p];
        page_mask_or(&e->touched, &e->touched, &touched[p]);
        page_mask_or(&e->maybe, &e->maybe, &touched[p]);
        if (!all)
            continue;
        e->maybe = e->touched;
        known->whole_data &= page_mask_contains(&e->data, &e->touched);
    }
}

int uvm_beside_narrow(struct uvm_known *known, const struct input *touches, struct outcome *notes, size_t n,
                      struct err *err)
{
    uint64_t outside = 0;
    struct actor_trace *trace = actor_trace_open(touches->store, err);
    struct page_mask *touched = trace ? mem_zalloc(known->recording->piece_count, sizeof *touched, err) : NULL;
    int rc = touched ? check(known, &actor_trace_ops, trace, touched, &outside, err) : -1;
    int part = rc ? -1 : is_part(touches->store, known->recording->kernels, err);
    if (part >= 0)
        narrow(known, touched, !part && !outside);
    for (size_t i = 0; part >= 0 && i < n; i++)
        outcome_note(&notes[i],
                     "touches: %s says which pages are touched first%s; which are touched again after an eviction it "
                     "does not",
                     touches->spec,
                     part      ? ", of a part of the program"
                     : outside ? ", some of them in memory that the recording does not show"
                               : "");
    free(touched);
    actor_trace_close(trace);
    return part < 0 ? err_at(err, "%s", touches->spec) : 0;
}
