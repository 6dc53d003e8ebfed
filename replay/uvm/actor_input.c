#include "replay/uvm/actor_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm_fault_log.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"

enum uvm_input uvm_input_stored(const struct store *store)
{
    uint64_t kinds = 0;
    bool accesses = false;
    for (int s = 0; store && s < store_stream_count(store); s++) {
        const struct stream *stream = store_stream(store, s);
        if (uvm_fault_log_stream(stream))
            return UVM_INPUT_FAULT_LOG;
        kinds |= stream->kinds;
        accesses |= strcmp(stream->name, "accesses") == 0;
    }
    if (kinds >> RECORD_TOUCH & 1)
        return UVM_INPUT_TOUCHES;
    if (kinds >> RECORD_MIGRATE_H2D & 1)
        return UVM_INPUT_RECORDING;
    return accesses ? UVM_INPUT_ACCESSES : UVM_INPUT_OTHER;
}

enum uvm_input uvm_input_of(const struct input *input)
{
    if (!input->workload.type)
        return uvm_input_stored(input->store);
    return derive_input_is(input, VIEW_UVM) ? UVM_INPUT_PROGRAM : UVM_INPUT_OTHER;
}

bool actor_input_is(const struct input *input)
{
    const enum uvm_input kind = uvm_input_of(input);
    return kind != UVM_INPUT_OTHER && kind != UVM_INPUT_RECORDING;
}

int actor_input_program(struct actor_input *t, const struct program *program, struct err *err)
{
    *t = (struct actor_input){.kind = UVM_INPUT_PROGRAM, .ops = &program_pages_ops, .program = *program};
    t->pages = mem_zalloc(1, sizeof *t->pages, err);
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
    const enum uvm_input kind = uvm_input_of(input);
    struct program program;
    if (kind == UVM_INPUT_PROGRAM)
        return w->type->program(w->state, &program, err) || actor_input_program(t, &program, err) ? -1 : 0;
    if (w->type)
        return derive_no_view(w->type, VIEW_UVM, err);
    *t = (struct actor_input){.kind = kind, .store = input->store};
    if ((kind == UVM_INPUT_ACCESSES ? open_accesses(t, input, err) : open_trace(t, input->store, err)) == 0)
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
    actor_trace_close(t->trace);
    store_close(t->view);
    free(t->pages);
    memset(t, 0, sizeof *t);
}

/* --- actor_trace: a trace of TOUCH records as actors --- */

enum { PER_SM = 64, KERNEL_CHARS = 48 }; /* warps of a multiprocessor, for traces that do not say */

/* One touch as it is kept. */
struct touch {
    uint32_t page;
    uint32_t actor;    /* dense number within the launch */
    uint32_t step;     /* as recorded; equal for the touches of one step */
    uint32_t compute;  /* ns after the step */
    uint32_t accesses; /* of the step's first touch, and so are the next four */
    uint32_t instructions, sectors, turns, waits;
    uint8_t flags; /* RECORD_READ, RECORD_WRITE, RECORD_ATOMIC; 0: no page */
};

struct launch {
    char kernel[KERNEL_CHARS];
    uint64_t number; /* as recorded */
    struct actor_launch shape;
    size_t first, count; /* of its touches */
    size_t starts; /* where actor a's touches begin: starts[a] .. starts[a + 1], an index into actor_trace.starts */
};

struct actor_trace {
    struct actor_alloc *allocs;
    size_t alloc_count, alloc_cap;
    struct touch *touches;
    size_t touch_count, touch_cap;
    struct launch *launches;
    size_t launch_count, launch_cap;
    uint64_t *starts;
    size_t start_count, start_cap;
    /* While it is read. */
    bool open;            /* the last launch still takes touches */
    struct id_map actors; /* of the open launch */
    bool numbered;        /* the pages are */
    size_t named;         /* the launch whose kernel is named next */
};

/* --- reading --- */

static int add_alloc(struct actor_trace *t, const struct record *r, struct err *err)
{
    if (t->launch_count || t->touch_count)
        return err_set(err, "an allocation follows the first touch; expected all of them before");
    if (t->alloc_count == ACTOR_ALLOCS)
        return err_set(err, "more than %d allocations", ACTOR_ALLOCS);
    if (mem_grow((void **)&t->allocs, &t->alloc_cap, t->alloc_count + 1, sizeof *t->allocs, err))
        return -1;
    if (t->alloc_count && r->addr < t->allocs[t->alloc_count - 1].addr + t->allocs[t->alloc_count - 1].bytes)
        return err_set(err, "the allocation at 0x%llx overlaps the one before or lies below it",
                       (unsigned long long)r->addr);
    struct actor_alloc *a = &t->allocs[t->alloc_count++];
    *a = (struct actor_alloc){.addr = r->addr, .bytes = r->bytes, .host = r->group & 1};
    (void)snprintf(a->name, sizeof a->name, "allocation %zu", t->alloc_count - 1);
    return 0;
}

static int advise(struct actor_trace *t, const struct record *r, struct err *err)
{
    if (r->flags < 1 || r->flags > 6)
        return err_set(err, "advice %u is not known; expected 1 to 6", r->flags);
    for (size_t i = 0; i < t->alloc_count; i++) {
        struct actor_alloc *a = &t->allocs[i];
        if (r->addr < a->addr + a->bytes && a->addr < r->addr + r->bytes) {
            if (r->flags % 2)
                a->advice |= 1u << r->flags;
            else
                a->advice &= ~(1u << (r->flags - 1));
        }
    }
    return 0;
}

static int open_launch(struct actor_trace *t, uint64_t number, struct actor_launch shape, struct err *err)
{
    if (mem_grow((void **)&t->launches, &t->launch_cap, t->launch_count + 1, sizeof *t->launches, err))
        return -1;
    struct launch *l = &t->launches[t->launch_count++];
    *l = (struct launch){.number = number, .shape = shape, .first = t->touch_count};
    (void)snprintf(l->kernel, sizeof l->kernel, "launch %llu", (unsigned long long)number);
    t->open = true;
    id_map_clear(&t->actors);
    return 0;
}

/* Bring the touches of the launch just read into order of actors, and note where each begins. */
static int close_launch(struct actor_trace *t, struct err *err)
{
    if (!t->open)
        return 0;
    t->open = false;
    struct launch *l = &t->launches[t->launch_count - 1];
    l->count = t->touch_count - l->first;
    l->starts = t->start_count;
    const uint32_t actors = l->shape.actors = t->actors.count; /* actors without a touch do nothing */
    if (actors == 0) {
        t->launch_count--; /* an empty launch does nothing */
        return 0;
    }
    if (mem_grow((void **)&t->starts, &t->start_cap, t->start_count + actors + 1, sizeof *t->starts, err))
        return -1;
    uint64_t *start = t->starts + t->start_count;
    struct touch *own = t->touches + l->first;
    bool sorted = true;
    memset(start, 0, (actors + 1) * sizeof *start);
    for (size_t i = 0; i < l->count; i++) {
        start[own[i].actor]++;
        sorted &= !i || own[i - 1].actor <= own[i].actor;
    }
    for (uint32_t a = 1; a <= actors; a++)
        start[a] += start[a - 1]; /* where its touches end */
    struct touch *copy = sorted ? NULL : mem_zalloc(l->count, sizeof *copy, err);
    if (!sorted && !copy)
        return -1;
    for (size_t i = l->count; i-- > 0;) {
        uint64_t at = --start[own[i].actor];
        if (copy)
            copy[at] = own[i];
    }
    if (copy)
        memcpy(own, copy, l->count * sizeof *own);
    free(copy);
    for (uint32_t a = 0; a <= actors; a++)
        start[a] += l->first;
    t->start_count += actors + 1;
    return 0;
}

static const struct actor_alloc *alloc_of(const struct actor_trace *t, uint64_t addr)
{
    size_t lo = 0;
    SORTED_FIRST(lo, t->alloc_count, i, t->allocs[i].addr <= addr);
    if (!lo)
        return NULL;
    const struct actor_alloc *a = &t->allocs[lo - 1];
    uint64_t end = (a->addr + a->bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
    return addr < end ? a : NULL;
}

static uint32_t to_u32(int64_t x)
{
    return x < 0 ? 0 : x > UINT32_MAX ? UINT32_MAX : (uint32_t)x;
}

/* extras: actor_extras[], or NULL. */
static int add_touch(struct actor_trace *t, const struct record *r, const int64_t *extras, struct err *err)
{
    if (!t->open || t->launches[t->launch_count - 1].number != r->group) {
        if (close_launch(t, err) ||
            open_launch(t, r->group, (struct actor_launch){.per_sm = PER_SM, .together = 1}, err))
            return -1;
    }
    struct touch touch = {.step = (uint32_t)r->time,
                          .compute = r->duration > UINT32_MAX ? UINT32_MAX : (uint32_t)r->duration,
                          .accesses = (uint32_t)r->bytes,
                          .turns = 1,
                          .flags = (uint8_t)r->flags};
    if (extras) {
        touch.instructions = to_u32(extras[0]);
        touch.sectors = to_u32(extras[1]);
        touch.turns = extras[2] > 0 ? to_u32(extras[2]) : 1;
        touch.waits = extras[3] > 0;
    }
    if (r->flags) {
        const struct actor_alloc *a = alloc_of(t, r->addr);
        if (!a)
            return err_set(err, "the touch of 0x%llx lies outside every allocation", (unsigned long long)r->addr);
        touch.page = actor_page(a, r->addr / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES - a->addr);
    }
    if (id_map_number(&t->actors, r->id, &touch.actor, err) ||
        mem_grow((void **)&t->touches, &t->touch_cap, t->touch_count + 1, sizeof *t->touches, err))
        return -1;
    t->touches[t->touch_count++] = touch;
    return 0;
}

/* The shape of a launch, as actor_writer writes it. */
static struct actor_launch shape_of(const struct record *r, const int64_t *extras)
{
    struct actor_launch l = {.actors = (uint32_t)r->addr,
                             .per_sm = (uint32_t)r->bytes,
                             .together = r->flags & 0xFFFFFF ? r->flags & 0xFFFFFF : 1,
                             .cpu = r->flags >> 31};
    if (r->time > 0 && r->time <= 1024 && r->duration >= 0) {
        l.threads = (uint32_t)r->time;
        l.registers = (uint32_t)(r->duration >> 32) & 0xFFFF;
        l.shared = (uint32_t)r->duration;
        l.blocks_most = extras ? to_u32(extras[0]) : 0;
    } else if (!l.per_sm) {
        l.per_sm = 1;
    }
    return l;
}

static int add_record(struct actor_trace *t, const struct record *r, const int64_t *extras, struct err *err)
{
    switch (r->kind) {
    case RECORD_ALLOC:
        return r->flags == RECORD_ALLOC_MANAGED ? add_alloc(t, r, err) : 0;
    case RECORD_ADVISE:
        return advise(t, r, err);
    case RECORD_KERNEL:
        if (r->addr > UINT32_MAX - 1 || r->bytes > 1 << 20 || (r->flags & 0xFFFFFF) > 1 << 20)
            return err_set(err, "launch %u has an impossible shape", r->group);
        if (close_launch(t, err))
            return -1;
        return r->addr ? open_launch(t, r->group, shape_of(r, extras), err) : 0;
    case RECORD_TOUCH:
        return add_touch(t, r, extras, err);
    case RECORD_KERNEL_END:
        return close_launch(t, err);
    default:
        return 0;
    }
}

/* Allocations must be numbered before the first touch. */
static int number_pages(struct actor_trace *t, const struct record *r, struct err *err)
{
    if (t->numbered || r->kind != RECORD_TOUCH)
        return 0;
    t->numbered = true;
    if (!t->alloc_count)
        return err_set(err, "touches come before any allocation of managed memory");
    for (size_t i = 0; i < t->alloc_count; i++)
        t->allocs[i].bytes += t->allocs[i].addr % ACTOR_PAGE_BYTES,
            t->allocs[i].addr -= t->allocs[i].addr % ACTOR_PAGE_BYTES;
    return actor_space_init(t->allocs, t->alloc_count, err);
}

static int read_stream(struct actor_trace *t, struct store *store, int stream, struct err *err)
{
    struct store_cursor *cursor = store_cursor_open(store, stream, err);
    if (!cursor)
        return -1;
    const struct record *records;
    const int64_t *extras;
    size_t n;
    size_t columns = 0; /* a trace of before has fewer */
    while (columns < ACTOR_EXTRAS && strcmp(store_stream(store, stream)->extra[columns], actor_extras[columns]) == 0)
        columns++;
    uint64_t number = 0;
    int rc;
    while ((rc = store_cursor_next(cursor, &records, &extras, &n, err)) == 1)
        for (size_t i = 0; i < n; i++, number++) {
            int64_t own[ACTOR_EXTRAS] = {0};
            for (size_t c = 0; c < columns; c++)
                own[c] = extras[c * n + i];
            if (number_pages(t, &records[i], err) || add_record(t, &records[i], columns ? own : NULL, err)) {
                store_cursor_close(cursor);
                return err_at(err, "record %llu of stream '%s'", (unsigned long long)number,
                              store_stream(store, stream)->name);
            }
        }
    store_cursor_close(cursor);
    return rc < 0 ? -1 : close_launch(t, err);
}

/* The names of kernels, where the trace has a row for a launch. */
static int name_kernel(void *ctx, const struct store_value *values, size_t n)
{
    struct actor_trace *t = ctx;
    if (n < 3 || values[1].type != STORE_TEXT || values[2].type != STORE_INT)
        return 0;
    while (t->named < t->launch_count && t->launches[t->named].number < (uint64_t)values[2].i)
        t->named++;
    if (t->named < t->launch_count && t->launches[t->named].number == (uint64_t)values[2].i)
        (void)snprintf(t->launches[t->named].kernel, KERNEL_CHARS, "%s", values[1].s);
    return 0;
}

/* A source that lists what it could see, and no migrations, collected nothing of unified memory. */
static int no_touches(const struct store *store, struct err *err)
{
    const char *kinds = store_origin_get(store, "kinds.uvm");
    return err_set(err, "%s holds no page touches%s", store_path(store),
                   kinds && !strstr(kinds, "MIGRATE")
                       ? ", and its source collected nothing of unified memory (nsys: --cuda-um-gpu-page-faults=true)"
                       : "");
}

struct actor_trace *actor_trace_open(struct store *store, struct err *err)
{
    int stream = 0; /* a view that is being made does not know its kinds yet */
    while (stream < store_stream_count(store) && !(store_stream(store, stream)->kinds >> RECORD_TOUCH & 1) &&
           strcmp(store_stream(store, stream)->name, "touches") != 0)
        stream++;
    struct actor_trace *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return NULL;
    int rc = 0;
    if (stream < store_stream_count(store))
        rc = read_stream(t, store, stream, err) || store_rows(store, "kernels", name_kernel, t, err) < 0 ? -1 : 0;
    if (rc == 0 && !t->launch_count)
        rc = no_touches(store, err);
    id_map_release(&t->actors);
    if (rc == 0)
        return t;
    actor_trace_close(t);
    return NULL;
}

void actor_trace_close(struct actor_trace *t)
{
    if (!t)
        return;
    free(t->allocs);
    free(t->touches);
    free(t->launches);
    free(t->starts);
    id_map_release(&t->actors);
    free(t);
}

/* --- as actors --- */

static const struct actor_alloc *trace_allocs(const void *state, size_t *n)
{
    const struct actor_trace *t = state;
    *n = t->alloc_count;
    return t->allocs;
}

static uint32_t trace_launches(const void *state)
{
    return (uint32_t)((const struct actor_trace *)state)->launch_count;
}

static void trace_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    const struct launch *l = &((const struct actor_trace *)state)->launches[launch];
    *out = l->shape;
    out->kernel = l->kernel;
}

/* Fill the step that begins at touch `first`; where the next begins. */
static uint64_t fill_step(const struct actor_trace *t, uint64_t first, uint64_t end, struct actor_step *step)
{
    const struct touch *head = &t->touches[first];
    uint64_t at = first;
    *step = (struct actor_step){.compute_ns = head->instructions ? ACTOR_COMPUTE_AUTO : head->compute,
                                .accesses = head->accesses,
                                .instructions = head->instructions,
                                .sectors = head->sectors,
                                .waits = head->waits,
                                .turns = head->turns};
    for (; at < end && t->touches[at].step == head->step; at++) {
        const struct touch *touch = &t->touches[at];
        if (touch->flags == RECORD_WRITE) {
            if (step->stores == ACTOR_STORES)
                break;
            step->page[ACTOR_LOADS + step->stores++] = touch->page; /* moved up below */
        } else if (touch->flags) {
            if (step->count == ACTOR_LOADS)
                break;
            step->writes |= (uint64_t)(touch->flags == RECORD_ATOMIC) << step->count;
            step->page[step->count++] = touch->page;
        }
    }
    memmove(&step->page[step->count], &step->page[ACTOR_LOADS], step->stores * sizeof *step->page);
    if (!step->accesses)
        step->accesses = step->count + step->stores;
    return at;
}

/* at->turn: touches of the actor that lie behind it. */
static int trace_step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                      struct err *err)
{
    (void)err;
    const struct actor_trace *t = run;
    const struct launch *l = &t->launches[launch];
    uint64_t start = t->starts[l->starts + actor], end = t->starts[l->starts + actor + 1];
    if (start + at->turn >= end)
        return 0;
    at->turn = fill_step(t, start + at->turn, end, step) - start;
    return 1;
}

const struct actor_ops actor_trace_ops = {
    .allocs = trace_allocs,
    .launches = trace_launches,
    .launch = trace_launch,
    .step = trace_step,
};

/* --- touches beside a recording --- */

const struct input *uvm_touches_input(const struct replay_job *job)
{
    for (size_t i = 0; i < job->input_count; i++)
        if (job->inputs[i].role && strcmp(job->inputs[i].role, "touches") == 0)
            return &job->inputs[i];
    return NULL;
}

struct marking {
    const struct uvm_recording *recording;
    const struct actor_input *touches;
    const struct actor_alloc *allocs;
    size_t alloc_count;
    int64_t *shifts; /* of each allocation: address in the recording less that of the touches */
    struct page_mask *touched;
    uint64_t outside;
};

static void mark(struct marking *m, uint32_t page)
{
    size_t lo = 0; /* behind the allocation of the page */
    SORTED_FIRST(lo, m->alloc_count, i, m->allocs[i].first_page <= page);
    const struct actor_alloc *a = &m->allocs[--lo];
    uint64_t addr = a->addr + (uint64_t)(page - a->first_page) * ACTOR_PAGE_BYTES + (uint64_t)m->shifts[lo];
    const struct uvm_piece *piece = uvm_recording_piece(m->recording, addr);
    if (piece)
        page_mask_set(&m->touched[piece - m->recording->pieces], uvm_block_page(&piece->shape, addr));
    else
        m->outside++;
}

static int mark_actor(struct marking *m, void *run, uint32_t launch, uint32_t actor, struct actor_step *step,
                      struct err *err)
{
    struct actor_at at = {0};
    int rc;
    while ((rc = m->touches->ops->step(run, launch, actor, &at, step, err)) == 1)
        for (uint32_t i = 0; i < step->count + step->stores; i++)
            mark(m, step->page[i]);
    return rc;
}

static int mark_all(struct marking *m, struct err *err)
{
    const struct actor_ops *ops = m->touches->ops;
    const void *state = m->touches->state;
    struct actor_step *step = mem_zalloc(1, sizeof *step, err);
    void *run = ops->run_open ? ops->run_open(state, err) : (void *)(uintptr_t)state;
    int rc = step && run ? 0 : -1;
    for (uint32_t l = 0; rc == 0 && l < ops->launches(state); l++) {
        struct actor_launch launch;
        ops->launch(state, l, &launch);
        for (uint32_t a = 0; rc == 0 && a < launch.actors && !launch.cpu; a++)
            rc = mark_actor(m, run, l, a, step, err);
    }
    if (ops->run_close && run)
        ops->run_close(run);
    free(step);
    return rc;
}

/* Match the allocations by their order; false if they do not agree. */
static bool match(struct marking *m)
{
    const struct uvm_recording *r = m->recording;
    if (r->allocation_count != m->alloc_count)
        return false;
    for (size_t a = 0; a < m->alloc_count; a++) {
        const uint64_t addr = m->allocs[a].addr, end = addr + m->allocs[a].bytes + ACTOR_PAGE_BYTES - 1;
        m->shifts[a] = (int64_t)(r->allocations[a].start - addr);
        if (m->shifts[a] % ACTOR_BLOCK_BYTES ||
            end / ACTOR_PAGE_BYTES - addr / ACTOR_PAGE_BYTES !=
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
static uint64_t launches(const struct actor_input *t)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < t->ops->launches(t->state); l++) {
        struct actor_launch launch;
        t->ops->launch(t->state, l, &launch);
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
static int check(const struct uvm_recording *r, const struct actor_input *t, struct page_mask *touched,
                 uint64_t *outside, struct err *err)
{
    struct marking m = {.recording = r, .touches = t, .touched = touched};
    m.allocs = t->ops->allocs(t->state, &m.alloc_count);
    m.shifts = mem_zalloc(m.alloc_count, sizeof *m.shifts, err);
    int rc = m.shifts ? mark_all(&m, err) : -1;
    uint64_t first = rc ? 0 : missing(r, touched), rest = first;
    if (first && match(&m)) {
        memset(touched, 0, r->piece_count * sizeof *touched);
        m.outside = 0;
        rc = mark_all(&m, err);
        rest = rc ? 0 : missing(r, touched);
    }
    free(m.shifts);
    *outside = m.outside;
    return rc ? rc : judge(r, rest ? first : 0, m.outside, launches(t), err);
}

/* What the recording leaves open of touches that fit it. */
static void say_open(const struct uvm_recording *r, const struct actor_input *t, uint64_t outside, struct outcome *note)
{
    const uint64_t launched = launches(t);
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

int uvm_touches_fit(const struct replay_job *job, struct recording wanted, const struct actor_input *t,
                    struct outcome *notes, struct err *err)
{
    struct uvm_recording r;
    uint64_t outside = 0;
    if (uvm_recording_load(&r, job->inputs[0].store, wanted, err))
        return -1;
    struct page_mask *touched = mem_zalloc(r.piece_count, sizeof *touched, err);
    int rc = touched ? check(&r, t, touched, &outside, err) : -1;
    for (size_t i = 0; rc == 0 && i < job->policy_count; i++)
        say_open(&r, t, outside, &notes[i]);
    free(touched);
    uvm_recording_release(&r);
    return rc;
}
