/* pagerank: delta-push PageRank; a vertex's list is read while what it has to pass on exceeds the tolerance.
 *
 * Each launch pushes damping * delta / degree of every active vertex along its list; a vertex whose collected residual
 * exceeds the tolerance takes it as its next delta and is active in the next launch. Scores are not normalised: they
 * start at 1 - damping. So the first launch reads every list, later ones fewer. Source: EMOGI 382dbcc, pagerank.cu. */
#include <string.h>

#include "trace/workloads/graph/traversal.h"

static const double damping = 0.85; /* EMOGI's ALPHA */

static void begin(struct traversal *t, uint64_t root)
{
    (void)root;
    double *delta = t->values;
    for (uint64_t v = 0; v < t->graph.vertices; v++) {
        delta[v] = 1 - damping;
        delta[t->graph.vertices + v] = 0;
    }
    frontier_fill(&t->active);
}

static int advance(struct traversal *t, struct err *err)
{
    (void)err;
    const struct graph *g = &t->graph;
    double *delta = t->values, *residual = delta + g->vertices;
    for (uint64_t v = frontier_next(&t->active, 0, g->vertices); v < g->vertices;
         v = frontier_next(&t->active, v + 1, g->vertices)) {
        double share = damping * delta[v] / (double)graph_degree(g, v);
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++)
            residual[graph_target(g, i)] += share;
    }
    for (uint64_t v = 0; v < g->vertices; v++)
        if (residual[v] > t->params->tolerance) {
            delta[v] = residual[v];
            residual[v] = 0;
            frontier_add(&t->next, v);
        }
    return 0;
}

/* Values: deltas, then residuals. */
const struct traversal_algorithm traversal_pagerank = {.values = 2,
                                                       .kernel = {.name = "pagerank",
                                                                  .values = "residuals",
                                                                  .value_bytes = 4,
                                                                  .own = "deltas",
                                                                  .flags = true,
                                                                  .clears = true,
                                                                  .always = true,
                                                                  .atomic = true},
                                                       .begin = begin,
                                                       .advance = advance};
