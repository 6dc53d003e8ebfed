/* sssp: single-source shortest paths by frontier relaxations; each launch also reads a 4-byte weight for every element.
 *
 * A vertex is active again in the launch after the one that lowered its cost. In place, a launch sees costs lowered in
 * it by vertices before (in vertex order: one of the orders a GPU may take); jacobi, only those of launches before. */
#include <string.h>

#include "trace/workloads/graph/traversal.h"

static const int64_t unreached = INT64_MAX;

static void begin(struct traversal *t, uint64_t root)
{
    int64_t *cost = t->values;
    for (uint64_t v = 0; v < t->graph.vertices; v++)
        cost[v] = unreached;
    cost[root] = 0;
    frontier_add(&t->active, root);
}

static int advance(struct traversal *t, struct err *err)
{
    (void)err;
    const struct graph *g = &t->graph;
    int64_t *cost = t->values, *before = cost + g->vertices;
    bool jacobi = t->params->update == 1;
    if (jacobi)
        memcpy(before, cost, g->vertices * sizeof *cost);
    for (uint64_t v = frontier_next(&t->active, 0, g->vertices); v < g->vertices;
         v = frontier_next(&t->active, v + 1, g->vertices))
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            int64_t reached = (jacobi ? before[v] : cost[v]) + g->weights[i];
            uint64_t n = graph_target(g, i);
            if (reached < cost[n]) {
                cost[n] = reached;
                frontier_add(&t->next, n);
                traversal_mark(t, i);
            }
        }
    return 0;
}

/* Values: costs, and as they were when the launch began (jacobi). */
const struct traversal_algorithm traversal_sssp = {.values = 2,
                                                   .rooted = true,
                                                   .weighted = true,
                                                   .kernel = {.name = "sssp",
                                                              .values = "costs",
                                                              .value_bytes = 4,
                                                              .own = "costs",
                                                              .own_first = true,
                                                              .flags = true,
                                                              .clears = true,
                                                              .reads = true,
                                                              .atomic = true},
                                                   .begin = begin,
                                                   .advance = advance};
