/* traversal_warp: what a warp of a traversal's kernel does: whether its vertices are active, their lists, the visits
 * behind each element (traversal_program.h says which); and where it finds the arrays. */
#ifndef TRACE_WORKLOADS_GRAPH_TRAVERSAL_WARP_H
#define TRACE_WORKLOADS_GRAPH_TRAVERSAL_WARP_H

#include "trace/program/plan.h"
#include "trace/program/program.h"
#include "trace/workloads/graph/traversal.h"
#include "trace/workloads/graph/traversal_run.h"

/* Which elements of neighbour lists the lanes of a warp load, load by load.
 *
 * A list for each lane (naive): lane l of load j reads element first + j of its vertex's list. One list for the warp
 * (merged, aligned): element from + 32 j + l, where `from` is the list's first, rounded down to a multiple of `round`;
 * what lies before the list is masked off, unless the kernel loads before it tests (EMOGI's SSSP).
 * Example: a list of elements 5 to 40, round 16: load 0 is elements 0 to 31 (lanes 0 to 4 masked), load 1 elements 32
 * to 40. */
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

enum { TRAVERSAL_ARRAYS = 10, TRAVERSAL_NONE = 255, TRAVERSAL_UNROLL = 4 };

/* The state of the program. */
struct traversal_program {
    struct plan plan;
    const struct traversal *t;
    const struct traversal_kernel *kernel;
    char name[32];
    uint8_t edges, weights, offsets, values, own, flags[2], changed; /* arrays; TRAVERSAL_NONE: no such */
    uint8_t bytes[TRAVERSAL_ARRAYS];                                 /* of an element */
    int64_t first_edge;                                              /* element 0 of the lists in its array */
    struct traversal_shape shape;
    bool visits;
};

/* A run. The warp asked for last is mostly asked for again. */
struct traversal_warps {
    struct plan_run plan_run;
    struct traversal_run at;
    bool known; /* what follows is of warp `warp` of the launch that `at` stands at */
    uint64_t warp;
    struct traversal_lists lists;
    uint32_t part;   /* of a sweep: */
    uint64_t part_j; /* the load that it begins with */
};

/* Go to the warp at e->at: its lists into warps->lists, 1; 0: it has no vertex; -1 with *e->err set. */
int traversal_warps_go(struct traversal_warps *warps, const struct emit *e);

/* The kernel. Body 0: the head; then one for each load and its visits, and one that clears the flag; of a sweep, one
 * for loads in fours that the same lanes make. */
plan_body traversal_warp;

#endif
