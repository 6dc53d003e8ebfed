/* traversal_warp: what a warp of a traversal's kernel does: whether its vertices are active, their lists, the visits
 * behind each element (traversal_program.h says which); and where it finds the arrays. */
#ifndef TRACE_WORKLOADS_GRAPH_TRAVERSAL_WARP_H
#define TRACE_WORKLOADS_GRAPH_TRAVERSAL_WARP_H

#include "trace/program/plan.h"
#include "trace/workloads/graph/traversal_lists.h"
#include "trace/workloads/graph/traversal_run.h"

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
