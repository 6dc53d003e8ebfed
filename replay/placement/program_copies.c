#include "replay/placement/program_copies.h"

struct ledger {
    const struct program_totals *totals;
    struct program_copies *copies;
    uint64_t cpu_new, gpu_new; /* allocations whose latest bytes only one side has */
};

/* Copy every allocation of `which`. */
static void copy(struct ledger *g, uint64_t which, int64_t *bytes, int64_t *copies)
{
    for (size_t i = 0; i < g->totals->alloc_count; i++)
        if (which >> i & 1) {
            *bytes += (int64_t)g->totals->allocs[i].bytes;
            ++*copies;
        }
    g->copies->copied |= which;
}

static void launch(struct ledger *g, const struct launch_totals *t)
{
    struct program_copies *c = g->copies;
    if (t->cpu) {
        copy(g, g->gpu_new & t->touched, &c->back_bytes, &c->back_copies);
        g->gpu_new &= ~t->touched;
        g->cpu_new |= t->modified;
        return;
    }
    if (g->cpu_new) {
        c->dirty_kernels++;
        c->dirty_bytes += (int64_t)t->touched_bytes;
    }
    copy(g, g->cpu_new, &c->in_bytes, &c->in_copies);
    g->cpu_new = 0;
    for (size_t i = 0; i < g->totals->alloc_count; i++)
        if (!g->totals->allocs[i].scratch)
            g->gpu_new |= t->modified & 1ull << i;
}

void program_copies_count(struct program_copies *copies, const struct program_totals *totals)
{
    *copies = (struct program_copies){0};
    struct ledger g = {.totals = totals, .copies = copies};
    for (size_t i = 0; i < totals->alloc_count; i++)
        if (totals->allocs[i].host && !totals->allocs[i].device)
            g.cpu_new |= 1ull << i;
    for (uint32_t l = 0; l < totals->launches; l++)
        launch(&g, &totals->launch[l]);
    copy(&g, g.gpu_new, &copies->last_bytes, &copies->last_copies);
    copies->back_bytes += copies->last_bytes;
    copies->back_copies += copies->last_copies;
}
