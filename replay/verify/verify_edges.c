/* verify_edges: allocation edges that a recording does not name, from what they do to the prefetcher. */
#include <string.h>

#include "models/uvm/block.h"
#include "replay/verify/verify_block.h"

enum { CANDIDATES = 64, EVENTS = 4096 };

struct candidates {
    uint16_t page[CANDIDATES];
    unsigned count;
};

static void propose(struct candidates *c, uint64_t page)
{
    if (page == 0 || page >= UVM_BLOCK_PAGES || c->count == CANDIDATES)
        return;
    unsigned at = 0;
    while (at < c->count && c->page[at] < page)
        at++;
    if (at < c->count && c->page[at] == page)
        return;
    memmove(&c->page[at + 1], &c->page[at], (c->count - at) * sizeof c->page[0]);
    c->page[at] = (uint16_t)page;
    c->count++;
}

/* An edge shows where a service begins or stops, and where the CPU first touches an array. */
static void collect(const struct verify_block *block, struct candidates *c)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct verify_event *e = &block->events[i];
        if (e->type != VERIFY_H2D)
            continue;
        const struct service *s = &block->h2d->items[e->service];
        const struct migration *from = &block->h2d->migrations[s->first], *to = from + s->records - 1;
        if (from->addr < e->block || to->addr < e->block)
            continue;
        propose(c, (from->addr - e->block) / UVM_PAGE_BYTES);
        propose(c, (to->addr + to->bytes - e->block + UVM_PAGE_BYTES - 1) / UVM_PAGE_BYTES);
    }
    for (size_t i = 0; i < block->count && block->events[i].type != VERIFY_H2D; i++)
        if (block->events[i].type == VERIFY_CPU_READ || block->events[i].type == VERIFY_CPU_WRITE)
            propose(c, block->events[i].first);
}

/* Programs write arrays from the start: an array whose first CPU fault lies elsewhere does not begin at this edge. */
static bool begins_at_edges(const struct verify_block *block, const struct verify_edges *edges)
{
    for (unsigned k = 0; k < edges->count; k++) {
        unsigned first = edges->page[k], end = k + 1 < edges->count ? edges->page[k + 1] : UVM_BLOCK_PAGES;
        for (size_t i = 0; i < block->count; i++) {
            const struct verify_event *e = &block->events[i];
            if ((e->type != VERIFY_CPU_READ && e->type != VERIFY_CPU_WRITE) || e->first < first || e->first >= end)
                continue;
            if (e->first != first)
                return false;
            break;
        }
    }
    return true;
}

/* No service lies across an edge. */
static bool cuts_no_service(const struct verify_block *block, const struct verify_edges *edges)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct verify_event *e = &block->events[i];
        if (e->type != VERIFY_H2D && e->type != VERIFY_D2H)
            continue;
        const struct services *services = e->type == VERIFY_H2D ? block->h2d : block->d2h;
        const struct service *s = &services->items[e->service];
        const struct migration *from = &services->migrations[s->first], *to = from + s->records - 1;
        for (unsigned k = 0; k < edges->count; k++) {
            uint64_t edge = e->block + (uint64_t)edges->page[k] * UVM_PAGE_BYTES;
            if (from->addr < edge && to->addr + to->bytes > edge)
                return false;
        }
    }
    return true;
}

/* Whether nothing contradicts the rules. */
static bool clean(const struct verify_counts *counts)
{
    for (int k = 0; k < VERIFY_TROUBLES; k++)
        if (counts->trouble[k] > 0 && k != VERIFY_UNPOPULATED)
            return false;
    return counts->exact == counts->services;
}

/* With an edge the CPU's own faults must still populate all that moves: a natural place of such a fault (page 256, say)
 * is no edge. */
static bool explains(const struct verify_block *block, const struct verify_edges *edges,
                     const struct verify_counts *without, struct verify_counts *with, long *budget)
{
    if (*budget <= 0 || !cuts_no_service(block, edges) || !begins_at_edges(block, edges))
        return false;
    --*budget;
    verify_block_play(block, edges, with);
    return clean(with) && with->trouble[VERIFY_UNPOPULATED] <= without->trouble[VERIFY_UNPOPULATED];
}

bool verify_block_infer(const struct verify_block *block, struct verify_edges *edges, struct verify_counts *counts,
                        long *budget)
{
    struct candidates c = {.count = 0};
    struct verify_counts with;
    /* Pages that a fault batch names are too little to go by: a lost service looks the same. */
    if (block->count > EVENTS || (counts->exact == counts->services && counts->trouble[VERIFY_RETURNED] == 0))
        return false;
    collect(block, &c);
    /* One edge: the end or the start of an allocation. Two: one ends, another begins behind a gap. */
    for (unsigned a = c.count; a-- > 0;) {
        struct verify_edges one = {{c.page[a]}, 1};
        if (explains(block, &one, counts, &with, budget)) {
            *edges = one;
            *counts = with;
            return true;
        }
    }
    for (unsigned a = 0; a < c.count; a++)
        for (unsigned b = a + 1; b < c.count; b++) {
            struct verify_edges two = {{c.page[a], c.page[b]}, 2};
            if (explains(block, &two, counts, &with, budget)) {
                *edges = two;
                *counts = with;
                return true;
            }
        }
    return false;
}
