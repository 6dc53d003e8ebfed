/* traversal_run: the launches of a traversal in order, each with its frontier and the visits that change a value; what
 * its program is made from.
 *
 * A visit changes a value if it does so when the launch's lists are read one after the other, in vertex order and
 * element by element: of several visits that would lower the same value alike, the first. That is one of the orders a
 * GPU may take, and the same in every run.
 * The launches are worked out once and shared by all runs: a frontier as bits, 1 a vertex; of changes only the words
 * that are not 0, 24 B each. Where all together take more than `most`, none is kept and each run works them out by
 * itself, with frontiers and values of its own, and starts anew to go back. A run takes besides 1 bit (cc: 2) an
 * element. Runs share the graph and may be on threads of their own.
 * Differs: on a GPU visits at the same time may all find the old value, and all change it. */
#ifndef TRACE_WORKLOADS_GRAPH_TRAVERSAL_RUN_H
#define TRACE_WORKLOADS_GRAPH_TRAVERSAL_RUN_H

#include "trace/workloads/graph/traversal.h"

/* Word `word` of traversal.changes and .own. */
struct traversal_change {
    uint64_t word, changes, own;
};

struct traversal_launch {
    uint64_t *active; /* frontier.bits */
    uint64_t count;   /* its members */
    struct traversal_change *change;
    size_t changes;
};

struct traversal_launches {
    uint64_t *starts;            /* of roots: their first launches; [root_count]: all launches */
    struct traversal_launch *of; /* of each launch; NULL: they are not kept */
    size_t kept, cap;
    uint64_t bytes;
};

/* Runs the traversal once. changes: whether changing visits are wanted. most: bytes. To be closed even on failure. */
int traversal_launches_open(struct traversal_launches *l, const struct traversal *t, bool changes, uint64_t most,
                            struct err *err);
void traversal_launches_close(struct traversal_launches *l);

struct traversal_run {
    struct traversal t; /* a copy: t.active is the frontier of the launch, t.changes what it changes */
    const struct traversal_launches *launches;
    bool running; /* t stands at `launch` */
    uint32_t launch;
};

/* launches: must outlive the run; NULL: whoever finds them out. changes: whether changing visits are wanted, as when
 * the launches were opened. *run is to be closed even on failure. */
int traversal_run_open(struct traversal_run *run, const struct traversal *t, const struct traversal_launches *launches,
                       bool changes, struct err *err);
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
