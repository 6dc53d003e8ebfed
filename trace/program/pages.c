#include "trace/program/pages.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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
    uint64_t own = 0;
    memset(pages, 0, sizeof *pages);
    pages->program = program;
    for (size_t i = 0; i < n; i++) {
        pages->managed[i] = -1;
        if (allocs[i].device) {
            own += allocs[i].bytes;
            continue;
        }
        struct actor_alloc *a = &pages->allocs[pages->count];
        *a = (struct actor_alloc){.addr = allocs[i].addr,
                                  .bytes = allocs[i].bytes,
                                  .advice = allocs[i].advice | (advice ? advice[i] : 0),
                                  .host = allocs[i].host};
        memcpy(a->name, allocs[i].name, sizeof a->name);
        pages->managed[i] = (int8_t)pages->count++;
    }
    const uint64_t kib = (own + 1023) / 1024;
    pages->own_kib = kib < UINT32_MAX ? (uint32_t)kib : UINT32_MAX;
    if (pages->count == 0)
        return err_set(err, "the program keeps nothing in managed memory");
    if (shares_pages(pages))
        move(pages, allocs, n);
    for (uint32_t l = 0; l < program->ops->launches(program->state); l++) {
        struct program_launch launch = program_launch_of(program, l);
        if (program_check_launch(&launch, l, err)) /* its warps are numbered in 32 bits */
            return -1;
    }
    return actor_space_init(pages->allocs, pages->count, err);
}

/* --- what an access touches in a turn ---
 *
 * What is not inlined keeps the registers of the loop over a warp's steps free: a seventh of its time. */

enum { SECTOR = 32 };

/* The pages of one access, each once. */
struct access_pages {
    uint32_t page[2 * PROGRAM_LANES];
    uint32_t n;
    uint32_t most; /* the highest of them */
};

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

static inline void collect(struct access_pages *c, uint32_t page)
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
                                 uint64_t first, uint64_t last, struct access_pages *c)
{
    uint64_t at = first - first % ACTOR_PAGE_BYTES;
    for (uint64_t byte = first; at <= last; at += ACTOR_PAGE_BYTES, byte = at) {
        const struct actor_alloc *own = byte - a->addr < a->bytes ? a : alloc_at(p, alloc, byte);
        if (own)
            collect(c, actor_page(own, byte - own->addr));
    }
}

/* The pages of an access in a turn, in the order of its lanes. None for an allocation that is not managed. */
static __attribute__((noinline)) void access_pages(const struct program_pages *p, const struct program_access *a,
                                                   uint64_t turn, struct access_pages *c)
{
    c->n = 0;
    if (!a->active || p->managed[a->alloc] < 0)
        return;
    const struct actor_alloc *own = &p->allocs[p->managed[a->alloc]];
    uint64_t first = program_pages_addr(p, a, 0, turn), bytes = program_stretch(a);
    if (!bytes) {
        bytes = program_span(a, ACTOR_PAGE_BYTES);
        bytes = bytes && first - own->addr < own->bytes && first + bytes - 1 - own->addr < own->bytes ? bytes : 0;
    }
    if (bytes) {
        collect_bytes(p, a->alloc, own, first, first + bytes - 1, c);
        return;
    }
    uint64_t moved = p->moved[a->alloc] + turn * (uint64_t)a->turn_stride;
    for (uint32_t rest = a->active; rest;) {
        rest = program_lanes_together(a, rest, &first, &bytes);
        first += moved;
        collect_bytes(p, a->alloc, own, first, first + bytes - 1, c);
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

/* How many turns from `turn` on, that one included, all accesses of the body stay on their pages; at most UINT32_MAX.
 */
static __attribute__((noinline)) uint32_t access_pages_turns(const struct program_pages *p,
                                                             const struct program_body *body, uint64_t turn)
{
    uint64_t most = body->turns - turn;
    for (uint32_t i = 0; i < body->count && most > 1; i++) {
        const struct program_access *a = &body->access[i];
        if (!a->active || p->managed[a->alloc] < 0)
            continue;
        uint64_t bytes = program_stretch(a);
        if (bytes) {
            most = turns_on_page(program_pages_addr(p, a, 0, turn), (uint32_t)bytes, a->turn_stride, most);
            continue;
        }
        for (uint32_t rest = a->active; rest && most > 1; rest &= rest - 1)
            most = turns_on_page(program_pages_addr(p, a, (unsigned)__builtin_ctz(rest), turn), a->bytes,
                                 a->turn_stride, most);
    }
    return (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX);
}

/* --- what a turn moves --- */

/* Whether an access touches the sectors of the one before it, or all but one of them. */
static bool overlaps(const struct program_access *a, const struct program_access *before)
{
    uint64_t apart = a->addr > before->addr ? a->addr - before->addr : before->addr - a->addr;
    return a->alloc == before->alloc && !a->lane && !before->lane && !a->row && !before->row &&
           a->lane_stride == before->lane_stride && a->active == before->active && apart < SECTOR;
}

/* Sectors that an access touches in a turn, without those of the access before it (NULL: none), where that one is
 * beside it. */
static __attribute__((noinline)) uint32_t access_sectors(const struct program_access *a, uint64_t turn,
                                                         const struct program_access *before)
{
    uint64_t first = program_addr(a, 0, turn);
    if (!a->active)
        return 0;
    if (before && overlaps(a, before))
        return program_addr(before, 0, turn) / SECTOR != first / SECTOR;
    uint32_t lanes = (uint32_t)__builtin_popcount(a->active);
    if (a->lane || a->row || a->lane_stride >= SECTOR || a->lane_stride <= -SECTOR)
        return lanes * ((a->bytes + SECTOR - 1u) / SECTOR);
    uint64_t stride = (uint64_t)(a->lane_stride < 0 ? -a->lane_stride : a->lane_stride);
    return (uint32_t)((first % SECTOR + stride * (lanes - 1) + a->bytes + SECTOR - 1) / SECTOR);
}

/* --- cache: the step of a body of one turn, reused for bodies that are the same up to an address offset ---
 *
 * Warps of a grid mostly do the same at another offset. A body whose accesses all lie whole sectors further on, inside
 * their allocations, makes the same step on other pages if its accesses share the same pages as before. So does a body
 * whose only access stays in one sector. Where an access has two pages, or the step many, all must move by as many
 * pages. Bodies with scattered lanes or several turns are not kept. Example: loads of 128 B at bytes 256 and 4,480 make
 * a step of pages 0 and 1; 512 B further on the same step; 3,712 B further on, at bytes 3,968 and 8,192, pages 0 and
 * 2. */

/* Zeroed: nothing is kept. */
struct kept_step {
    uint32_t count, after; /* of the body */
    bool whole;            /* each access leaves no page out and lies inside its allocation, and `step` is the step */
    struct program_access access[PROGRAM_ACCESSES];
    uint64_t bytes[PROGRAM_ACCESSES], last[PROGRAM_ACCESSES]; /* of the stretch; page of its last byte */
    uint8_t place[PROGRAM_ACCESSES];                          /* of its page in step.page, if it has one only */
    bool apart;                                               /* each has one page at most, and they are few */
    struct actor_step step;
};

enum { FEW = 12 }; /* pages of a step that may each go their own way */
enum { FROM = offsetof(struct program_access, active), TO = offsetof(struct program_access, alloc) + 1 };

/* What of an access stands from `active` on is compared as bytes: there is no gap in it. */
_Static_assert(TO - FROM == 12 && sizeof(uint32_t) + 2 * sizeof(uint16_t) + 4 == 12, "fields of an access");

static const char *fields(const struct program_access *a)
{
    return (const char *)a + FROM;
}

/* Whether a body is the kept one but for its addresses. */
static __attribute__((noinline)) bool kept_step_alike(const struct kept_step *k, const struct program_body *b)
{
    if (b->turns != 1 || b->count == 0 || b->count != k->count || b->after != k->after)
        return false;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct program_access *a = &b->access[i], *was = &k->access[i];
        if (a->lane || was->lane || a->row || was->row || a->lane_stride != was->lane_stride ||
            memcmp(fields(a), fields(was), TO - FROM))
            return false;
    }
    return true;
}

/* Whether the bytes from addr on lie in the allocation that is meant; where that is not managed it does not matter. */
static inline bool inside(const struct program_pages *p, unsigned alloc, uint64_t addr, uint64_t bytes)
{
    if (p->managed[alloc] < 0)
        return true;
    const struct actor_alloc *a = &p->allocs[p->managed[alloc]];
    return addr - a->addr < a->bytes && addr + bytes - 1 - a->addr < a->bytes;
}

static uint64_t page_of(uint64_t addr)
{
    return addr / ACTOR_PAGE_BYTES;
}

/* Whether n pages are all different. */
static bool distinct(const uint32_t *page, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (page[i] == page[k])
                return false;
    return true;
}

/* All pages so many further on. */
static void move_all(const struct kept_step *k, uint32_t pages, struct actor_step *step)
{
    for (uint32_t i = 0; i < k->step.count + k->step.stores; i++)
        step->page[i] = k->step.page[i] + pages;
}

/* Each page as far as the accesses of it; false if they part, or pages that were two become one. */
static bool move_each(const struct kept_step *k, const struct program_pages *p, const struct program_access *a,
                      struct actor_step *step)
{
    uint32_t seen = 0;
    if (!k->apart)
        return false;
    for (uint32_t i = 0; i < k->count; i++) {
        uint32_t place = k->place[i];
        if (p->managed[a[i].alloc] < 0)
            continue;
        uint32_t page = k->step.page[place] + (uint32_t)(page_of(a[i].addr) - page_of(k->access[i].addr));
        if (seen >> place & 1 && step->page[place] != page)
            return false;
        seen |= 1u << place;
        step->page[place] = page;
    }
    return distinct(step->page, k->step.count) && distinct(step->page + k->step.count, k->step.stores);
}

/* Whether all lanes access the same place, in one sector. */
static bool in_sector(const struct program_access *a)
{
    return a->lane_stride == 0 && a->addr % SECTOR + a->bytes <= SECTOR;
}

/* The step of such a body, if it is the kept one, moved. */
static __attribute__((noinline)) bool kept_step_get(const struct kept_step *k, const struct program_pages *p,
                                                    const struct program_body *b, struct actor_step *step)
{
    const struct program_access *a = b->access;
    uint64_t moved = a[0].addr - k->access[0].addr;
    uint64_t pages = page_of(a[0].addr) - page_of(k->access[0].addr);
    bool together = true;
    if (!k->whole || (moved % SECTOR && !(k->count == 1 && in_sector(a) && in_sector(k->access))))
        return false;
    for (uint32_t i = 0; i < k->count; i++) {
        uint64_t further = page_of(a[i].addr) - page_of(k->access[i].addr);
        if (a[i].addr - k->access[i].addr != moved || page_of(a[i].addr + k->bytes[i] - 1) - k->last[i] != further ||
            !inside(p, a[i].alloc, a[i].addr, k->bytes[i]))
            return false;
        together &= further == pages;
    }
    if (together)
        move_all(k, (uint32_t)pages, step);
    else if (!move_each(k, p, a, step))
        return false;
    memcpy(step, &k->step, offsetof(struct actor_step, page));
    return true;
}

/* Where the only page of each access stands; false if one has more, or there are many. */
static bool find_places(struct kept_step *k, const struct program_pages *p)
{
    uint32_t all = k->step.count + k->step.stores;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct program_access *a = &k->access[i];
        if (p->managed[a->alloc] < 0)
            continue;
        const struct actor_alloc *own = &p->allocs[p->managed[a->alloc]];
        uint32_t at = program_loads(a) ? 0 : k->step.count;
        while (at < all && k->step.page[at] != actor_page(own, a->addr - own->addr))
            at++;
        if (all > FEW || at == all || page_of(a->addr) != k->last[i])
            return false;
        k->place[i] = (uint8_t)at;
    }
    return true;
}

/* Keep a body of one turn, and the step that it is. */
static __attribute__((noinline)) void kept_step_put(struct kept_step *k, const struct program_pages *p,
                                                    const struct program_body *b, const struct actor_step *step)
{
    k->count = b->count;
    k->after = b->after;
    k->whole = true;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct program_access *a = &b->access[i];
        k->access[i] = *a;
        k->bytes[i] = program_span(a, ACTOR_PAGE_BYTES);
        k->last[i] = page_of(a->addr + k->bytes[i] - 1);
        k->whole &= k->bytes[i] > 0 && p->moved[a->alloc] == 0 && inside(p, a->alloc, a->addr, k->bytes[i]);
    }
    if (!k->whole)
        return;
    memcpy(&k->step, step, offsetof(struct actor_step, page) + (step->count + step->stores) * sizeof *step->page);
    k->apart = find_places(k, p);
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
        f->step->waits = program_loads(a) ? f->run->pages->own_kib : f->step->waits;
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
    struct program_launch l = program_launch_of(p, launch);
    *out = (struct actor_launch){.kernel = l.kernel,
                                 .actors = (uint32_t)program_warps(&l),
                                 .together = program_warps_of_block(&l),
                                 .threads = l.threads,
                                 .registers = l.registers,
                                 .shared = l.shared,
                                 .blocks_most = l.blocks_most,
                                 .cpu = l.cpu,
                                 .waited = l.waited};
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
