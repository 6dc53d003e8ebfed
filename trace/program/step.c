#include "trace/program/step.h"

#include <stddef.h>
#include <string.h>

enum { SECTOR = 32 };

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

void access_pages(const struct program_pages *p, const struct program_access *a, uint64_t turn, struct access_pages *c)
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

uint32_t access_pages_turns(const struct program_pages *p, const struct program_body *body, uint64_t turn)
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

uint32_t access_sectors(const struct program_access *a, uint64_t turn, const struct program_access *before)
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

/* --- a step kept for bodies alike --- */

enum { FEW = 12 }; /* pages of a step that may each go their own way */
enum { FROM = offsetof(struct program_access, active), TO = offsetof(struct program_access, alloc) + 1 };

/* What of an access stands from `active` on is compared as bytes: there is no gap in it. */
_Static_assert(TO - FROM == 12 && sizeof(uint32_t) + 2 * sizeof(uint16_t) + 4 == 12, "fields of an access");

static const char *fields(const struct program_access *a)
{
    return (const char *)a + FROM;
}

bool kept_step_alike(const struct kept_step *k, const struct program_body *b)
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

bool kept_step_get(const struct kept_step *k, const struct program_pages *p, const struct program_body *b,
                   struct actor_step *step)
{
    const struct program_access *a = b->access;
    uint64_t moved = a[0].addr - k->access[0].addr;
    uint64_t pages = page_of(a[0].addr) - page_of(k->access[0].addr);
    bool together = true;
    if (!k->whole || moved % SECTOR)
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

void kept_step_put(struct kept_step *k, const struct program_pages *p, const struct program_body *b,
                   const struct actor_step *step)
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
