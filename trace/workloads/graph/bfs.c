/* bfs: level-synchronous breadth-first search; level L's launch reads the lists of all vertices at distance L.
 *
 * The levels are found the quick way (bottom-up where most vertices are near and the graph holds both directions of
 * every edge: Beamer et al. 2012); what a launch reads does not depend on how they were found. */
#include <string.h>

#include "trace/workloads/graph/traversal.h"

/* Bottom-up pays when the frontier's lists hold more than 1/14 of the elements not yet reached (Beamer's alpha). */
enum { BOTTOM_UP_SHARE = 14 };

struct bfs {
    uint64_t unreached; /* elements of vertices not yet reached */
    uint64_t visited[]; /* bitmap */
};

static void begin(struct traversal *t, uint64_t root)
{
    struct bfs *b = t->values;
    memset(b->visited, 0, (t->graph.vertices / 64 + 1) * sizeof *b->visited);
    b->visited[root / 64] |= 1ULL << (root % 64);
    b->unreached = t->graph.elements - graph_degree(&t->graph, root);
    frontier_add(&t->active, root);
}

static void top_down(struct traversal *t, uint64_t *visited)
{
    const struct graph g = t->graph; /* a copy, which nothing written below can change */
    for (uint64_t v = frontier_next(&t->active, 0, g.vertices); v < g.vertices;
         v = frontier_next(&t->active, v + 1, g.vertices))
        for (uint64_t i = g.offsets[v], end = g.offsets[v + 1]; i < end; i++) {
            uint64_t n = graph_target(&g, i);
            if (visited[n / 64] >> (n % 64) & 1)
                continue;
            visited[n / 64] |= 1ULL << (n % 64);
            frontier_add(&t->next, n);
            traversal_mark(t, i);
        }
}

static void bottom_up(struct traversal *t, uint64_t *visited)
{
    const struct graph *g = &t->graph;
    for (uint64_t v = 0; v < g->vertices; v++) {
        if ((visited[v / 64] >> (v % 64)) & 1)
            continue;
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++)
            if (frontier_has(&t->active, graph_target(g, i))) {
                frontier_add(&t->next, v);
                break;
            }
    }
    for (uint64_t w = 0; w <= g->vertices / 64; w++)
        visited[w] |= t->next.bits[w];
}

static uint64_t elements_of(const struct graph *g, const struct frontier *f)
{
    uint64_t sum = 0;
    for (uint64_t v = frontier_next(f, 0, g->vertices); v < g->vertices; v = frontier_next(f, v + 1, g->vertices))
        sum += graph_degree(g, v);
    return sum;
}

static int advance(struct traversal *t, struct err *err)
{
    (void)err;
    struct bfs *b = t->values;
    const struct graph *g = &t->graph;
    if (!t->changes && g->symmetric && elements_of(g, &t->active) > b->unreached / BOTTOM_UP_SHARE)
        bottom_up(t, b->visited);
    else
        top_down(t, b->visited);
    b->unreached -= elements_of(g, &t->next);
    return 0;
}

const struct traversal_algorithm traversal_bfs = {
    .rooted = true,
    .kernel = {.name = "bfs", .values = "labels", .value_bytes = 4, .reads = true, .tells = true},
    .begin = begin,
    .advance = advance};
