/* rodinia_heartwall: the state of rodinia-heartwall, and its kernel. */
#ifndef TRACE_WORKLOADS_RODINIA_RODINIA_HEARTWALL_H
#define TRACE_WORKLOADS_RODINIA_RODINIA_HEARTWALL_H

#include "trace/workloads/rodinia/parts/heartwall_phases.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { HEARTWALL_ROWS = 656, HEARTWALL_COLUMNS = 744, HEARTWALL_POINTS = 51 };

/* Arrays: four of the inner points, four of the outer ones, and one for each array that blocks have of their own. */
enum {
    HEARTWALL_FRAME,
    HEARTWALL_INNER_ROW,
    HEARTWALL_OUTER_ROW = HEARTWALL_INNER_ROW + 4,
    HEARTWALL_INNER_T = HEARTWALL_OUTER_ROW + 4,
    HEARTWALL_OUTER_T,
    HEARTWALL_OWN,
    HEARTWALL_ARRAYS = HEARTWALL_OWN + 12
};

struct heartwall_params {
    int64_t frames, template, area, points, video, order, compute_ns;
};

struct heartwall {
    struct plan plan;
    struct heartwall_params p;
    struct heartwall_shape shape;
    struct heartwall_program part[3]; /* by enum heartwall_part */
    int64_t inner, row[HEARTWALL_POINTS], column[HEARTWALL_POINTS];
    int32_t *first[2]; /* of each output: the element that its first trip loads; of the convolution, of the mask's */
};

/* Bytes from a block's own array of a role to the next block's. */
uint64_t heartwall_own_bytes(const struct heartwall *h, unsigned role);

/* A body for each step (parts/heartwall_phases.h). */
plan_body heartwall_kernel;

#endif
