/* traversal_lists: which elements of neighbour lists the lanes of a warp load, load by load.
 *
 * A list for each lane (naive): lane l of load j reads element first + j of its vertex's list. One list for the warp
 * (merged, aligned): element from + 32 j + l, where `from` is the list's first, rounded down to a multiple of `round`;
 * what lies before the list is masked off, unless the kernel loads before it tests (EMOGI's SSSP).
 * Example: a list of elements 5 to 40, round 16: load 0 is elements 0 to 31 (lanes 0 to 4 masked), load 1 elements 32
 * to 40. */
#ifndef TRACE_WORKLOADS_GRAPH_TRAVERSAL_LISTS_H
#define TRACE_WORKLOADS_GRAPH_TRAVERSAL_LISTS_H

#include "trace/program/program.h"
#include "trace/workloads/graph/traversal.h"

struct traversal_shape {
    bool each;          /* a list for each lane */
    uint64_t round;     /* else: elements to round down to, 1 to 32; 1: not at all */
    bool unmasked_head; /* likewise */
};

/* Of one warp. */
struct traversal_lists {
    bool each, unmasked_head;
    uint64_t vertex;                                   /* of lane 0 */
    uint32_t lanes, active;                            /* those with a vertex; whose vertex is in the frontier */
    uint64_t first[PROGRAM_LANES], end[PROGRAM_LANES]; /* elements, of active lanes; one list: [0] */
    uint64_t from;                                     /* one list: element of lane 0 in load 0 */
    uint64_t loads;                                    /* of the longest lane; 0 where none is active */
};

struct traversal_load {
    uint32_t reads, list;      /* lanes that load an element; those of them whose element is in the list */
    int64_t at[PROGRAM_LANES]; /* the elements; lanes that load none: not filled */
};

/* False if no lane of the warp has a vertex. The frontier is t->active. */
bool traversal_lists(const struct traversal *t, const struct traversal_shape *shape, uint64_t warp,
                     struct traversal_lists *lists);

/* Load j < lists->loads. */
void traversal_load(const struct traversal_lists *lists, uint64_t j, struct traversal_load *load);

/* The first load after j, which is `load`, in which other lanes take part. */
uint64_t traversal_same_until(const struct traversal_lists *lists, const struct traversal_load *load, uint64_t j);

#endif
