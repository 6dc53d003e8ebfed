#include "trace/program/pages.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { SECTOR = 32 };

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
        *a = (struct actor_alloc){
            .addr = allocs[i].addr, .bytes = allocs[i].bytes, .advice = advice ? advice[i] : 0, .host = allocs[i].host};
        memcpy(a->name, allocs[i].name, sizeof a->name);
        pages->managed[i] = (int8_t)pages->count++;
    }
    if (pages->count == 0)
        return err_set(err, "the program keeps nothing in managed memory");
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
    struct program_body body;
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

static bool loads(const struct program_access *a)
{
    return a->kind == RECORD_READ || a->kind == RECORD_ATOMIC;
}

/* Whether a turn is one step: all loads come before the only wait, if there is one. */
static bool single_wait(const struct program_body *body, uint64_t stalls)
{
    if (stalls & (stalls - 1))
        return false;
    if (!stalls)
        return true;
    for (uint32_t i = (uint32_t)__builtin_ctzll(stalls); i < body->count; i++)
        if (loads(&body->access[i]))
            return false;
    return true;
}

static int fetch(struct run *r, uint32_t launch, uint32_t warp, uint32_t index, struct err *err)
{
    if (r->rc >= 0 && r->launch == launch && r->warp == warp && r->index == index)
        return r->rc;
    r->rc = program_body(r->pages->program, r->program, launch, warp, index, &r->body, err);
    r->launch = launch;
    r->warp = warp;
    r->index = index;
    if (r->rc == 1) {
        r->stalls = program_stalls(&r->body);
        r->single = !r->pages->unroll && single_wait(&r->body, r->stalls);
    }
    return r->rc;
}

/* --- pages --- */

/* Whether an address lies in a page of the allocation. */
static bool holds(const struct actor_alloc *a, uint64_t addr)
{
    return (addr - a->addr) / ACTOR_PAGE_BYTES <= (a->bytes - 1) / ACTOR_PAGE_BYTES;
}

/* The allocation that an address lies in; NULL: none. */
static const struct actor_alloc *alloc_at(const struct program_pages *p, unsigned alloc, uint64_t addr)
{
    if (p->managed[alloc] < 0)
        return NULL;
    const struct actor_alloc *own = &p->allocs[p->managed[alloc]];
    if (holds(own, addr))
        return own;
    for (size_t i = 0; i < p->count; i++)
        if (holds(&p->allocs[i], addr))
            return &p->allocs[i];
    return NULL;
}

/* The pages of one access, each once. */
struct collected {
    uint32_t page[2 * PROGRAM_LANES];
    uint32_t n;
    uint32_t most; /* the highest of them */
};

static inline void collect(struct collected *c, uint32_t page)
{
    if (c->n && page <= c->most)
        for (uint32_t i = c->n; i > 0; i--)
            if (c->page[i - 1] == page)
                return;
    if (!c->n || page > c->most)
        c->most = page;
    c->page[c->n++] = page;
}

/* The pages of the bytes first..last; `a` is the allocation they are thought to lie in. */
static inline void collect_bytes(const struct program_pages *p, unsigned alloc, const struct actor_alloc *a,
                                 uint64_t first, uint64_t last, struct collected *c)
{
    uint64_t at = first - first % ACTOR_PAGE_BYTES;
    for (uint64_t byte = first; at <= last; at += ACTOR_PAGE_BYTES, byte = at) {
        const struct actor_alloc *own = byte - a->addr < a->bytes ? a : alloc_at(p, alloc, byte);
        if (own)
            collect(c, actor_page(own, byte - own->addr));
    }
}

/* Lanes 0 to n - 1, without a gap between their bytes. */
static inline bool side_by_side(const struct program_access *a)
{
    return !a->lane && a->lane_stride == a->bytes && (a->active & (a->active + 1)) == 0;
}

/* Every lane the same bytes. */
static inline bool broadcast(const struct program_access *a)
{
    return !a->lane && a->lane_stride == 0;
}

static void pages_of(const struct program_pages *p, const struct program_access *a, uint64_t turn, struct collected *c)
{
    c->n = 0;
    if (!a->active || p->managed[a->alloc] < 0)
        return;
    const struct actor_alloc *own = &p->allocs[p->managed[a->alloc]];
    uint64_t first = program_addr(a, 0, turn);
    if (side_by_side(a) || broadcast(a)) {
        uint64_t bytes = broadcast(a) ? a->bytes : (uint64_t)__builtin_popcount(a->active) * a->bytes;
        collect_bytes(p, a->alloc, own, first, first + bytes - 1, c);
        return;
    }
    for (uint32_t rest = a->active; rest; rest &= rest - 1) {
        first = program_addr(a, (unsigned)__builtin_ctz(rest), turn);
        collect_bytes(p, a->alloc, own, first, first + a->bytes - 1, c);
    }
}

/* --- turns on the same pages --- */

/* How many turns from `turn` on the bytes at `first` stay in the page(s) they are in. */
static uint64_t turns_on_page(uint64_t first, uint32_t bytes, int64_t stride, uint64_t most)
{
    if (stride == 0)
        return most;
    uint64_t low = first % ACTOR_PAGE_BYTES, high = (first + bytes - 1) % ACTOR_PAGE_BYTES, room;
    if (high < low)
        return 1; /* they lie across a boundary */
    if (stride > 0)
        room = (ACTOR_PAGE_BYTES - 1 - high) / (uint64_t)stride;
    else
        room = low / (0 - (uint64_t)stride);
    return room + 1 < most ? room + 1 : most;
}

static uint64_t same_turns(const struct run *r, uint64_t turn)
{
    uint64_t most = r->body.turns - turn;
    for (uint32_t i = 0; i < r->body.count && most > 1; i++) {
        const struct program_access *a = &r->body.access[i];
        if (!a->active || r->pages->managed[a->alloc] < 0)
            continue;
        if (side_by_side(a) || broadcast(a)) {
            uint32_t lanes = broadcast(a) ? 1 : (uint32_t)__builtin_popcount(a->active);
            most = turns_on_page(program_addr(a, 0, turn), lanes * a->bytes, a->turn_stride, most);
            continue;
        }
        for (uint32_t rest = a->active; rest && most > 1; rest &= rest - 1)
            most = turns_on_page(program_addr(a, (unsigned)__builtin_ctz(rest), turn), a->bytes, a->turn_stride, most);
    }
    return most < UINT32_MAX ? most : UINT32_MAX;
}

/* --- what a turn moves --- */

/* Whether an access touches the sectors of the one before it, or all but one of them. */
static bool overlaps(const struct program_access *a, const struct program_access *before)
{
    uint64_t apart = a->addr > before->addr ? a->addr - before->addr : before->addr - a->addr;
    return a->alloc == before->alloc && !a->lane && !before->lane && a->lane_stride == before->lane_stride &&
           a->active == before->active && apart < SECTOR;
}

static uint32_t sectors_of(const struct program_access *a, uint64_t turn, const struct program_access *before)
{
    uint64_t first = program_addr(a, 0, turn);
    if (!a->active)
        return 0;
    if (before && overlaps(a, before))
        return program_addr(before, 0, turn) / SECTOR != first / SECTOR;
    uint32_t lanes = (uint32_t)__builtin_popcount(a->active);
    if (a->lane || a->lane_stride >= SECTOR || a->lane_stride <= -SECTOR)
        return lanes * ((a->bytes + SECTOR - 1u) / SECTOR);
    uint64_t stride = (uint64_t)(a->lane_stride < 0 ? -a->lane_stride : a->lane_stride);
    return (uint32_t)((first % SECTOR + stride * (lanes - 1) + a->bytes + SECTOR - 1) / SECTOR);
}

/* --- steps --- */

/* One of a step's two lists, while it grows. */
struct list {
    uint32_t *page, *count;
    uint32_t limit;
    uint32_t most;        /* the highest page in it */
    struct collected put; /* what was put last; n = 0: nothing */
    uint64_t first, last; /* its pages, as addresses, where it was one stretch; else 0 */
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

static bool fits(const struct list *list, const struct collected *c)
{
    uint32_t more = 0;
    if (*list->count + c->n <= list->limit)
        return true;
    for (uint32_t i = 0; i < c->n; i++)
        more += find(list, c->page[i]) == 0;
    return *list->count + more <= list->limit;
}

/* Pages that the list has already are not added again. writes: NULL, or gets bit i for the page at i. */
static void put(struct list *list, const struct collected *c, uint64_t *writes)
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

static bool same_as_last(const struct list *list, const struct collected *c)
{
    return list->put.n == c->n && memcmp(list->put.page, c->page, c->n * sizeof *c->page) == 0;
}

/* The first and the last page of an access, as addresses, if it is one stretch; 0 both if it is not. */
static void stretch_of(const struct program_access *a, uint64_t turn, uint64_t *first, uint64_t *last)
{
    *first = *last = 0;
    if (!a->active || !(side_by_side(a) || broadcast(a)))
        return;
    uint64_t byte = program_addr(a, 0, turn);
    uint64_t bytes = broadcast(a) ? a->bytes : (uint64_t)__builtin_popcount(a->active) * a->bytes;
    *first = byte / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
    *last = (byte + bytes - 1) / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
}

/* A step while it is filled. */
struct filling {
    const struct run *run;
    struct actor_step *step;
    uint64_t turn;
    struct list loaded, stored;
    struct collected pages; /* of the access in hand */
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
    struct list *list = loads(a) ? &f->loaded : &f->stored;
    struct collected *c = &f->pages;
    uint64_t first, last;
    if (f->run->pages->managed[a->alloc] < 0)
        return true;
    stretch_of(a, f->turn, &first, &last);
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
    pages_of(f->run->pages, a, f->turn, c);
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
        if ((waited && loads(a)) || (a->kind != PROGRAM_BARRIER && !take(f, a)))
            break;
        if (a->kind != PROGRAM_BARRIER) {
            s->sectors += sectors_of(a, f->turn, before);
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
    s->count = s->stores = s->accesses = s->instructions = s->sectors = 0;
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
        s->turns = (uint32_t)same_turns(r, at->turn);
    at->access = 0;
    at->turn += s->turns;
    if (at->turn == r->body.turns) {
        at->turn = 0;
        at->body++;
    }
}

static int pages_step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                      struct err *err)
{
    struct run *r = run;
    int rc = fetch(r, launch, actor, at->body, err);
    if (rc != 1)
        return rc;
    int64_t ns = r->pages->program->compute_ns;
    fill(r, at, step);
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

const struct actor_ops program_pages_ops = {
    .allocs = pages_allocs,
    .launches = pages_launches,
    .launch = pages_launch,
    .step = pages_step,
    .run_open = pages_run_open,
    .run_close = pages_run_close,
};
