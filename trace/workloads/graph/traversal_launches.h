/* traversal_launches: how many launches a traversal has, and what each of them is: its frontier and the visits that
 * change a value (traversal_run.h says which), worked out once and shared by all runs.
 *
 * A frontier is kept as bits, 1 a vertex; of changes only the words that are not 0, 24 B each. Where all launches
 * together take more than `most`, none is kept and each run works them out by itself. */
#ifndef TRACE_WORKLOADS_GRAPH_TRAVERSAL_LAUNCHES_H
#define TRACE_WORKLOADS_GRAPH_TRAVERSAL_LAUNCHES_H

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

#endif
