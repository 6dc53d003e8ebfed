#include "replay/uvm/actor_input.h"

#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm_fault_log.h"
#include "trace/base/mem.h"

static uint64_t kinds_of(const struct store *store)
{
    uint64_t kinds = 0;
    for (int i = 0; store && i < store_stream_count(store); i++)
        kinds |= store_stream(store, i)->kinds;
    return kinds;
}

enum uvm_stored uvm_stored(const struct store *store)
{
    const uint64_t kinds = kinds_of(store);
    if (store && uvm_fault_log_is(store))
        return UVM_STORED_FAULT_LOG;
    if (kinds >> RECORD_TOUCH & 1)
        return UVM_STORED_TOUCHES;
    return kinds >> RECORD_MIGRATE_H2D & 1 ? UVM_STORED_RECORDING : UVM_STORED_OTHER;
}

bool actor_input_is(const struct input *input)
{
    return derive_input_is(input, VIEW_UVM) || kinds_of(input->store) >> RECORD_TOUCH & 1;
}

int actor_input_program(struct actor_input *t, const struct program *program, struct err *err)
{
    memset(t, 0, sizeof *t);
    t->program = *program;
    t->pages = mem_zalloc(1, sizeof *t->pages, err);
    t->ops = &program_pages_ops;
    t->state = t->pages;
    if (t->pages && program_pages_init(t->pages, &t->program, NULL, err) == 0)
        return 0;
    actor_input_close(t);
    return -1;
}

/* A stored trace of touches, or what a log of faults shows of them. */
static int open_trace(struct actor_input *t, struct store *store, struct err *err)
{
    t->trace = actor_trace_open(store, err);
    t->ops = &actor_trace_ops;
    t->state = t->trace;
    return t->trace ? 0 : -1;
}

/* A recording of accesses, by the pages they touch. */
static int open_accesses(struct actor_input *t, const struct input *input, struct err *err)
{
    if (derive_input_open(&t->accesses, input, VIEW_UVM, err))
        return -1;
    t->view = derive_view(&t->accesses.source, VIEW_UVM, err);
    return t->view ? open_trace(t, t->view, err) : -1;
}

int actor_input_open(struct actor_input *t, const struct input *input, struct err *err)
{
    const struct workload *w = &input->workload;
    struct program program;
    if (w->type && !derive_input_is(input, VIEW_UVM))
        return derive_no_view(w->type, VIEW_UVM, err);
    if (w->type)
        return w->type->program(w->state, &program, err) || actor_input_program(t, &program, err) ? -1 : 0;
    memset(t, 0, sizeof *t);
    t->store = input->store;
    bool accesses = uvm_stored(input->store) == UVM_STORED_OTHER && derive_input_is(input, VIEW_UVM);
    if ((accesses ? open_accesses(t, input, err) : open_trace(t, input->store, err)) == 0)
        return 0;
    actor_input_close(t);
    return -1;
}

/* Launches that are like none before them. */
static uint32_t own_launches(const struct actor_input *t)
{
    uint32_t own = 0;
    for (uint32_t l = 0; l < t->ops->launches(t->state); l++)
        own += !t->ops->like || t->ops->like(t->state, l) == l;
    return own;
}

void actor_input_keep(struct actor_input *t, size_t runs, int threads)
{
    if (!t->program.ops || runs * t->ops->launches(t->state) == own_launches(t))
        return;
    t->tracks = actor_tracks_open(t->ops, t->state, actor_tracks_room(threads), threads);
    if (!t->tracks)
        return;
    t->ops = &actor_tracks_ops;
    t->state = t->tracks;
}

void actor_input_close(struct actor_input *t)
{
    actor_tracks_close(t->tracks);
    if (t->trace)
        actor_trace_close(t->trace);
    store_close(t->view);
    free(t->pages);
    memset(t, 0, sizeof *t);
}

/* --- touches beside a recording --- */

const struct input *uvm_touches_input(const struct replay_job *job)
{
    for (size_t i = 0; i < job->input_count; i++)
        if (job->inputs[i].role && strcmp(job->inputs[i].role, "touches") == 0)
            return &job->inputs[i];
    return NULL;
}

bool uvm_touches_first_only(const struct input *touches)
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

static uint64_t missing(const struct uvm_recording *r, const struct page_mask *touched)
{
    uint64_t n = 0;
    for (size_t p = 0; p < r->piece_count; p++) {
        struct page_mask rest;
        page_mask_andnot(&rest, &r->pieces[p].touched, &touched[p]);
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
static int check(const struct uvm_recording *r, const struct actor_ops *ops, const void *state,
                 struct page_mask *touched, uint64_t *outside, struct err *err)
{
    struct marking m = {.recording = r, .touched = touched};
    m.allocs = ops->allocs(state, &m.alloc_count);
    m.shifts = mem_zalloc(m.alloc_count, sizeof *m.shifts, err);
    int rc = m.shifts ? mark_all(&m, ops, state, err) : -1;
    uint64_t first = rc ? 0 : missing(r, touched), rest = first;
    if (first && match(&m)) {
        memset(touched, 0, r->piece_count * sizeof *touched);
        m.outside = 0;
        rc = mark_all(&m, ops, state, err);
        rest = rc ? 0 : missing(r, touched);
    }
    free(m.shifts);
    *outside = m.outside;
    return rc ? rc : judge(r, rest ? first : 0, m.outside, launches(ops, state), err);
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

int uvm_touches_fit(const struct replay_job *job, struct recording wanted, const struct actor_ops *ops,
                    const void *state, struct outcome *notes, struct err *err)
{
    struct uvm_recording r;
    uint64_t outside = 0;
    if (uvm_recording_load(&r, job->inputs[0].store, wanted, err))
        return -1;
    struct page_mask *touched = mem_zalloc(r.piece_count, sizeof *touched, err);
    int rc = touched ? check(&r, ops, state, touched, &outside, err) : -1;
    for (size_t i = 0; rc == 0 && i < job->policy_count; i++)
        say_open(&r, ops, state, outside, &notes[i]);
    free(touched);
    uvm_recording_release(&r);
    return rc;
}
