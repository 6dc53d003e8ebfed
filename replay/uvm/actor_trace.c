#include "replay/uvm/actor_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/id_map.h"
#include "trace/base/mem.h"

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
    struct launch *l = &t->launches[t->launch_count - 1];
    l->count = t->touch_count - l->first;
    struct touch *own = t->touches + l->first;
    bool sorted = true;
    for (size_t i = 1; i < l->count && sorted; i++)
        sorted = own[i - 1].actor <= own[i].actor;
    if (!sorted) {
        struct touch *copy = mem_zalloc(l->count, sizeof *copy, err);
        size_t *next = copy ? mem_zalloc(t->actors.count + 1, sizeof *next, err) : NULL;
        if (!next) {
            free(copy);
            return -1;
        }
        for (size_t i = 0; i < l->count; i++)
            next[own[i].actor + 1]++;
        for (size_t a = 0; a < t->actors.count; a++)
            next[a + 1] += next[a];
        for (size_t i = 0; i < l->count; i++)
            copy[next[own[i].actor]++] = own[i];
        memcpy(own, copy, l->count * sizeof *own);
        free(copy);
        free(next);
    }
    l->shape.actors = t->actors.count; /* actors without a touch do nothing */
    if (l->shape.actors == 0) {
        t->launch_count--; /* an empty launch does nothing */
        t->open = false;
        return 0;
    }
    l->starts = t->start_count;
    if (mem_grow((void **)&t->starts, &t->start_cap, t->start_count + l->shape.actors + 1, sizeof *t->starts, err))
        return -1;
    size_t at = 0;
    for (uint32_t a = 0; a <= l->shape.actors; a++) {
        while (at < l->count && own[at].actor < a)
            at++;
        t->starts[t->start_count++] = l->first + at;
    }
    t->open = false;
    return 0;
}

static const struct actor_alloc *alloc_of(const struct actor_trace *t, uint64_t addr)
{
    size_t lo = 0, hi = t->alloc_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (t->allocs[mid].addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
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
    if (!t->launch_count)
        return -1;
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
static int number_pages(struct actor_trace *t, const struct record *r, bool *numbered, struct err *err)
{
    if (*numbered || r->kind != RECORD_TOUCH)
        return 0;
    *numbered = true;
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
    bool numbered = false;
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
            if (number_pages(t, &records[i], &numbered, err) || add_record(t, &records[i], columns ? own : NULL, err)) {
                store_cursor_close(cursor);
                return err_at(err, "record %llu of stream '%s'", (unsigned long long)number,
                              store_stream(store, stream)->name);
            }
        }
    store_cursor_close(cursor);
    return rc < 0 ? -1 : close_launch(t, err);
}

/* The names of kernels, where the trace has a row for a launch. */
struct naming {
    struct actor_trace *trace;
    size_t next;
};

static int name_kernel(void *ctx, const struct store_value *values, size_t n)
{
    struct naming *naming = ctx;
    if (n < 3 || values[1].type != STORE_TEXT || values[2].type != STORE_INT)
        return 0;
    struct actor_trace *t = naming->trace;
    while (naming->next < t->launch_count && t->launches[naming->next].number < (uint64_t)values[2].i)
        naming->next++;
    if (naming->next < t->launch_count && t->launches[naming->next].number == (uint64_t)values[2].i)
        (void)snprintf(t->launches[naming->next].kernel, KERNEL_CHARS, "%s", values[1].s);
    return 0;
}

/* The first stream with a TOUCH record within its first records; -1: none. */
static int find_stream(struct store *store, struct err *err)
{
    for (int s = 0; s < store_stream_count(store); s++) {
        struct store_cursor *cursor = store_cursor_open(store, s, err);
        if (!cursor)
            return -2;
        const struct record *records;
        size_t n;
        bool found = false;
        int rc = 1;
        for (int batch = 0; !found && batch < 64 && (rc = store_cursor_next(cursor, &records, NULL, &n, err)) == 1;
             batch++)
            for (size_t i = 0; i < n && !found; i++)
                found = records[i].kind == RECORD_TOUCH;
        store_cursor_close(cursor);
        if (rc < 0)
            return -2;
        if (found)
            return s;
    }
    return -1;
}

struct actor_trace *actor_trace_open(struct store *store, struct err *err)
{
    int stream = find_stream(store, err);
    if (stream == -1)
        err_set(err, "%s holds no page touches", store_path(store));
    if (stream < 0)
        return NULL;
    struct actor_trace *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return NULL;
    struct naming naming = {t, 0};
    if (read_stream(t, store, stream, err) || store_rows(store, "kernels", name_kernel, &naming, err) < 0) {
        actor_trace_close(t);
        return NULL;
    }
    if (!t->launch_count) {
        err_set(err, "%s holds no launch with touches", store_path(store));
        actor_trace_close(t);
        return NULL;
    }
    id_map_release(&t->actors);
    return t;
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
