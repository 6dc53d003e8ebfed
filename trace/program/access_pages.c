#include "trace/program/access_pages.h"

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
