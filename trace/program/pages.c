#include "trace/program/pages.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/step.h"

static bool shares_pages(const struct program_pages *pages)
{
    for (size_t i = 0; i < pages->count; i++)
        if (pages->allocs[i].addr % ACTOR_PAGE_BYTES)
            return true;
    return false;
}

static void move(struct program_pages *pages, const struct program_alloc *allocs, size_t n)
{
    actor_space_place(pages->allocs, pages->count);
    for (size_t i = 0; i < n; i++)
        if (pages->managed[i] >= 0)
            pages->moved[i] = pages->allocs[pages->managed[i]].addr - allocs[i].addr;
}

int program_pages_init(struct program_pages *pages, const struct program *program, const uint32_t *advice,
                       struct err *err)
{
    size_t n;
    const struct program_alloc *allocs = program->ops->allocs(program->state, &n);
    memset(pages, 0, sizeof *pages);
    pages->program = program;
    for (size_t i = 0; i < n; i++) {
        pages->managed[i] = -1;
        if (allocs[i].device)
            continue;
        struct actor_alloc *a = &pages->allocs[pages->count];
        *a = (struct actor_alloc){.addr = allocs[i].addr,
                                  .bytes = allocs[i].bytes,
                                  .advice = allocs[i].advice | (advice ? advice[i] : 0),
                                  .host = allocs[i].host};
        memcpy(a->name, allocs[i].name, sizeof a->name);
        pages->managed[i] = (int8_t)pages->count++;
    }
    if (pages->count == 0)
        return err_set(err, "the program keeps nothing in managed memory");
    if (shares_pages(pages))
        move(pages, allocs, n);
    for (uint32_t l = 0; l < program->ops->launches(program->state); l++) {
        struct program_launch launch = {0};
        program->ops->launch(program->state, l, &launch);
        if (program_check_launch(&launch, l, err)) /* its warps are numbered in 32 bits */
            return -1;
    }
    return actor_space_init(pages->allocs, pages->count, err);
}

/* --- one run --- */

/* The body asked for last: an actor mostly goes on with its own. */
struct run {
    const struct program_pages *pages;
    void *program; /* the program's run */
    uint32_t launch, warp, index;
    int rc; /* of program_body(); -1: none */
    uint64_t stalls;
    bool single; /* a turn has no more than one wait, behind all its loads */
    bool alike;  /* the body is the kept one but for its addresses */
    struct program_body body;
    struct kept_step kept;
};

static void *pages_run_open(const void *state, struct err *err)
{
    struct run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->pages = state;
    r->rc = -1;
    if (program_run_open(r->pages->program, &r->program, err)) {
        free(r);
        return NULL;
    }
    return r;
}

static void pages_run_close(void *run)
{
    struct run *r = run;
    program_run_close(r->pages->program, r->program);
    free(r);
}

/* Whether a turn is one step: all loads come before the only wait, if there is one. */
static bool single_wait(const struct program_body *body, uint64_t stalls)
{
    if (stalls & (stalls - 1))
        return false;
    if (!stalls)
        return true;
    for (uint32_t i = (uint32_t)__builtin_ctzll(stalls); i < body->count; i++)
        if (program_loads(&body->access[i]))
            return false;
    return true;
}

static int fetch(struct run *r, uint32_t launch, uint32_t warp, uint32_t index, struct err *err)
{
    bool own = r->rc >= 0 && r->launch == launch && r->warp == warp;
    if (own && r->index == index)
        return r->rc;
    if (own && r->rc == 1 && r->index + 1 == index && r->body.last)
        return 0;
    r->rc = program_body_rows(r->pages->program, r->program, launch, warp, index, &r->body, err);
    r->launch = launch;
    r->warp = warp;
    r->index = index;
    r->alike = r->rc == 1 && kept_step_alike(&r->kept, &r->body);
    if (r->rc == 1 && !r->alike) {
        r->kept.count = 0;
        r->stalls = program_stalls(&r->body);
        r->single = !r->pages->unroll && single_wait(&r->body, r->stalls);
    }
    return r->rc;
}

int program_pages_body(void *run, uint32_t launch, uint32_t warp, uint32_t index, const struct program_body **body,
                       struct err *err)
{
    struct run *r = run;
    *body = &r->body;
    return fetch(r, launch, warp, index, err);
}

/* --- steps --- */

/* One of a step's two lists, while it grows. */
struct list {
    uint32_t *page, *count;
    uint32_t limit;
    uint32_t most;           /* the highest page in it */
    struct access_pages put; /* what was put last; n = 0: nothing */
    uint64_t first, last;    /* its pages, as addresses, where it was one stretch; else 0 */
};

static void open_list(struct list *list, uint32_t *page, uint32_t *count, uint32_t limit)
{
    list->page = page;
    list->count = count;
    list->limit = limit;
    list->most = list->put.n = 0;
    list->first = list->last = 0;
}

/* 1 + where a page stands; 0: nowhere. */
static inline uint32_t find(const struct list *list, uint32_t page)
{
    uint32_t k = 0;
    if (*list->count && page <= list->most)
        for (k = *list->count; k > 0 && list->page[k - 1] != page;)
            k--;
    return k;
}

static bool fits(const struct list *list, const struct access_pages *c)
{
    uint32_t more = 0;
    if (*list->count + c->n <= list->limit)
        return true;
    for (uint32_t i = 0; i < c->n; i++)
        more += find(list, c->page[i]) == 0;
    return *list->count + more <= list->limit;
}

/* Pages that the list has already are not added again. writes: NULL, or gets bit i for the page at i. */
static void put(struct list *list, const struct access_pages *c, uint64_t *writes)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t k = find(list, c->page[i]);
        if (k == 0) {
            if (!*list->count || c->page[i] > list->most)
                list->most = c->page[i];
            list->page[*list->count] = c->page[i];
            k = ++*list->count;
        }
        if (writes)
            *writes |= 1ull << (k - 1);
    }
    list->put.n = c->n;
    memcpy(list->put.page, c->page, c->n * sizeof *c->page);
}

static bool same_as_last(const struct list *list, const struct access_pages *c)
{
    return list->put.n == c->n && memcmp(list->put.page, c->page, c->n * sizeof *c->page) == 0;
}

/* The first and the last page of an access, as addresses, if it leaves none out between them; 0 both if it may. */
static void stretch_of(const struct program_pages *p, const struct program_access *a, uint64_t turn, uint64_t *first,
                       uint64_t *last)
{
    *first = *last = 0;
    uint64_t byte = program_pages_addr(p, a, 0, turn), bytes = program_span(a, ACTOR_PAGE_BYTES);
    if (!bytes)
        return;
    *first = byte / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
    *last = (byte + bytes - 1) / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
}

/* A step while it is filled. */
struct filling {
    const struct run *run;
    struct actor_step *step;
    uint64_t turn;
    struct list loaded, stored;
    struct access_pages pages; /* of the access in hand */
    uint32_t stores[ACTOR_STORES];
};

/* Add a page, the only one of an access; false if there is no room. */
static inline bool take_page(struct filling *f, struct list *list, uint32_t page)
{
    if (find(list, page) == 0) {
        if (*list->count == list->limit)
            return false;
        if (!*list->count || page > list->most)
            list->most = page;
        list->page[(*list->count)++] = page;
    }
    list->put.n = 1;
    list->put.page[0] = page;
    f->step->accesses++;
    return true;
}

/* Add an access; false, and nothing added, if it does not fit (a step's first access always does). */
static bool take(struct filling *f, const struct program_access *a)
{
    struct list *list = program_loads(a) ? &f->loaded : &f->stored;
    struct access_pages *c = &f->pages;
    uint64_t first, last;
    if (f->run->pages->managed[a->alloc] < 0) {
        f->step->waits |= program_loads(a);
        return true;
    }
    stretch_of(f->run->pages, a, f->turn, &first, &last);
    if (first && first == list->first && last == list->last && a->kind != RECORD_ATOMIC) {
        f->step->accesses += list->put.n; /* the pages of the access before: no need to look for them */
        return true;
    }
    const struct actor_alloc *own = &f->run->pages->allocs[f->run->pages->managed[a->alloc]];
    if (first && first == last && first - own->addr < own->bytes && a->kind != RECORD_ATOMIC) {
        if (!take_page(f, list, actor_page(own, first - own->addr)))
            return false;
        list->first = list->last = first;
        return true;
    }
    access_pages(f->run->pages, a, f->turn, c);
    if (!fits(list, c))
        return false;
    f->step->accesses += c->n;
    list->first = first;
    list->last = last;
    if (a->kind != RECORD_ATOMIC && same_as_last(list, c))
        return true;
    put(list, c, a->kind == RECORD_ATOMIC ? &f->step->writes : NULL);
    return true;
}

/* Fill the step with accesses from `from` on; the first that is not in it. */
static uint32_t take_step(struct filling *f, uint32_t from)
{
    const struct program_body *b = &f->run->body;
    const struct program_access *before = NULL;
    struct actor_step *s = f->step;
    bool waited = false; /* the step's wait is behind us: only stores may follow */
    uint32_t i = from;
    for (; i < b->count; i++) {
        const struct program_access *a = &b->access[i];
        waited |= i > from && f->run->stalls >> i & 1;
        if ((waited && program_loads(a)) || (a->kind != PROGRAM_BARRIER && !take(f, a)))
            break;
        if (a->kind != PROGRAM_BARRIER) {
            s->sectors += access_sectors(a, f->turn, before);
            before = a;
        }
        s->instructions += a->before + 1;
    }
    return i;
}

/* Fill the step from access at->access of turn at->turn on, and say where the next begins. */
static void fill(const struct run *r, struct actor_at *at, struct actor_step *s)
{
    struct filling f;
    f.run = r;
    f.step = s;
    f.turn = at->turn;
    open_list(&f.loaded, s->page, &s->count, ACTOR_LOADS);
    open_list(&f.stored, f.stores, &s->stores, ACTOR_STORES);
    s->count = s->stores = s->accesses = s->instructions = s->sectors = s->waits = 0;
    s->writes = 0;
    uint32_t next = take_step(&f, at->access);
    memcpy(&s->page[s->count], f.stores, s->stores * sizeof *f.stores);
    s->turns = 1;
    if (next < r->body.count) {
        at->access = next;
        return;
    }
    s->instructions += r->body.after;
    if (r->single && at->access == 0)
        s->turns = access_pages_turns(r->pages, &r->body, at->turn);
    at->access = 0;
    at->turn += s->turns;
    if (at->turn == r->body.turns) {
        at->turn = 0;
        at->body++;
    }
}

/* The step, as kept or worked out; the step of a whole body of one turn is kept. */
static void take_or_fill(struct run *r, struct actor_at *at, struct actor_step *step)
{
    bool whole = at->access == 0 && r->body.turns == 1 && !r->pages->unroll;
    uint32_t body = at->body;
    if (whole && r->alike && kept_step_get(&r->kept, r->pages, &r->body, step)) {
        at->body++;
        return;
    }
    fill(r, at, step);
    if (whole && at->body != body)
        kept_step_put(&r->kept, r->pages, &r->body, step);
}

static int pages_step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                      struct err *err)
{
    struct run *r = run;
    int rc = fetch(r, launch, actor, at->body, err);
    if (rc != 1)
        return rc;
    int64_t ns = r->pages->program->compute_ns;
    take_or_fill(r, at, step);
    step->compute_ns = ACTOR_COMPUTE_AUTO;
    if (ns >= 0) { /* of a turn: a part of it takes its share */
        uint32_t all = program_instructions(&r->body);
        step->compute_ns = all ? (uint32_t)((uint64_t)ns * step->instructions / all) : 0;
    }
    return 1;
}

/* --- launches --- */

static const struct actor_alloc *pages_allocs(const void *state, size_t *n)
{
    const struct program_pages *p = state;
    *n = p->count;
    return p->allocs;
}

static uint32_t pages_launches(const void *state)
{
    const struct program *p = ((const struct program_pages *)state)->program;
    return p->ops->launches(p->state);
}

static void pages_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    const struct program *p = ((const struct program_pages *)state)->program;
    struct program_launch l = {0};
    p->ops->launch(p->state, launch, &l);
    *out = (struct actor_launch){.kernel = l.kernel,
                                 .actors = (uint32_t)program_warps(&l),
                                 .together = program_warps_of_block(&l),
                                 .threads = l.threads,
                                 .registers = l.registers,
                                 .shared = l.shared,
                                 .blocks_most = l.blocks_most,
                                 .cpu = l.cpu};
}

static uint32_t pages_like(const void *state, uint32_t launch)
{
    return program_like(((const struct program_pages *)state)->program, launch);
}

const struct actor_ops program_pages_ops = {
    .allocs = pages_allocs,
    .launches = pages_launches,
    .launch = pages_launch,
    .step = pages_step,
    .run_open = pages_run_open,
    .run_close = pages_run_close,
    .like = pages_like,
};
