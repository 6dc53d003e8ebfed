#include "trace/program/kept_step.h"

#include <stddef.h>
#include <string.h>

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

bool kept_step_get(const struct kept_step *k, const struct program_pages *p, const struct program_body *b,
                   struct actor_step *step)
{
    const struct program_access *a = b->access;
    uint64_t moved = a[0].addr - k->access[0].addr;
    uint64_t pages = a[0].addr / ACTOR_PAGE_BYTES - k->access[0].addr / ACTOR_PAGE_BYTES;
    if (!k->whole || moved % SECTOR)
        return false;
    for (uint32_t i = 0; i < k->count; i++)
        if (a[i].addr - k->access[i].addr != moved ||
            a[i].addr / ACTOR_PAGE_BYTES - k->access[i].addr / ACTOR_PAGE_BYTES != pages ||
            (a[i].addr + k->bytes[i] - 1) / ACTOR_PAGE_BYTES - k->last[i] != pages ||
            !inside(p, a[i].alloc, a[i].addr, k->bytes[i]))
            return false;
    memcpy(step, &k->step, offsetof(struct actor_step, page));
    for (uint32_t i = 0; i < k->step.count + k->step.stores; i++)
        step->page[i] = k->step.page[i] + (uint32_t)pages;
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
        k->last[i] = (a->addr + k->bytes[i] - 1) / ACTOR_PAGE_BYTES;
        k->whole &= k->bytes[i] > 0 && inside(p, a->alloc, a->addr, k->bytes[i]);
    }
    if (k->whole)
        memcpy(&k->step, step, offsetof(struct actor_step, page) + (step->count + step->stores) * sizeof *step->page);
}
