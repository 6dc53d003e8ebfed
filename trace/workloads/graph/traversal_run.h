/* traversal_run: the launches of a traversal in order, each with its frontier and the visits that change a value; what
 * the program of a traversal is made from.
 *
 * A visit changes a value if it does so when the launch's lists are read one after the other, in vertex order and
 * element by element: of several visits that would lower the same value alike, the first. That is one of the orders a
 * GPU may take, and the same in every run.
 * A run has frontiers and values of its own and shares the graph, so runs may be on threads of their own. It goes
 * forward by itself and starts anew to go back. Memory of a run: 2 bits a vertex, the algorithm's values (bfs 1 bit,
 * the others 16 B a vertex) and 1 bit (cc: 2) an element: kron, scale 18, k 16: 1 MB for bfs, 5 MB for sssp.
 * Differs: on a GPU visits at the same time may all find the old value, and all change it. */
#ifndef TRACE_WORKLOADS_GRAPH_TRAVERSAL_RUN_H
#define TRACE_WORKLOADS_GRAPH_TRAVERSAL_RUN_H

#include "trace/workloads/graph/traversal.h"

struct traversal_run {
    struct traversal t;     /* a copy: t.active is the frontier of the launch, t.changes what it changes */
    const uint64_t *starts; /* of roots: their first launches; [root_count]: all launches */
    bool running;           /* t stands at `launch` */
    uint32_t launch;
};

/* Count: starts[0 .. root_count] as above. Runs the traversal once. */
int traversal_run_starts(const struct traversal *t, uint64_t *starts, struct err *err);

/* changes: whether changing visits are wanted. *run is to be closed even on failure. */
int traversal_run_open(struct traversal_run *run, const struct traversal *t, const uint64_t *starts, bool changes,
                       struct err *err);
void traversal_run_close(struct traversal_run *run);

/* Go to a launch. */
int traversal_run_seek(struct traversal_run *run, uint32_t launch, struct err *err);

/* Whether the visit of element i changes a value in this launch (false for pagerank, where every visit does). */
static inline bool traversal_run_changes(const struct traversal_run *run, uint64_t i)
{
    return run->t.changes && (run->t.changes[i / 64] >> (i % 64)) & 1;
}

/* ... of the vertex whose list it is. */
static inline bool traversal_run_changes_own(const struct traversal_run *run, uint64_t i)
{
    return run->t.own && (run->t.own[i / 64] >> (i % 64)) & 1;
}

#endif
