#include "trace/program/kept_step.h"

#include <stddef.h>
#include <string.h>

enum { FEW = 12 }; /* pages of a step that may each go their own way */
enum { SECTOR = 32, FROM = offsetof(struct program_access, active), TO = offsetof(struct program_access, alloc) + 1 };

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
