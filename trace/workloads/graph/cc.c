/* cc: connected components by label propagation; every vertex is active first, later those whose label fell.
 *
 * Of the two ends of an edge the one with the larger label takes the smaller. Source: EMOGI 382dbcc, cc.cu. */
#include <string.h>

#include "trace/workloads/graph/traversal.h"

static void begin(struct traversal *t, uint64_t root)
{
    (void)root;
    uint64_t *label = t->values;
    for (uint64_t v = 0; v < t->graph.vertices; v++)
        label[v] = v;
    frontier_fill(&t->active);
}

static int advance(struct traversal *t, struct err *err)
{
    (void)err;
    const struct graph *g = &t->graph;
    uint64_t *label = t->values, *seen = label;
    if (t->params->update == 1) {
        seen = label + g->vertices;
        memcpy(seen, label, g->vertices * sizeof *label);
    }
    for (uint64_t v = frontier_next(&t->active, 0, g->vertices); v < g->vertices;
         v = frontier_next(&t->active, v + 1, g->vertices))
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            uint64_t n = graph_target(g, i);
            uint64_t larger = seen[v] < seen[n] ? n : v, smaller = seen[v] < seen[n] ? seen[v] : seen[n];
            if (smaller < label[larger]) {
                label[larger] = smaller;
                frontier_add(&t->next, larger);
                traversal_mark(t, i);
                if (t->own && larger == v)
                    t->own[i / 64] |= 1ULL << (i % 64);
            }
        }
    return 0;
}

/* Values: labels, and as they were when the launch began (jacobi). */
const struct traversal_algorithm traversal_cc = {.values = 2,
                                                 .changes_own = true,
                                                 .kernel = {.name = "cc",
                                                            .values = "components",
                                                            .value_bytes = 8,
                                                            .values_written = true,
                                                            .own = "components",
                                                            .flags = true,
                                                            .raises = true,
                                                            .reads = true,
                                                            .atomic = true,
                                                            .tells = true},
                                                 .begin = begin,
                                                 .advance = advance};
