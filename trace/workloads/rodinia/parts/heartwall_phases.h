/* heartwall_phases: what a block of rodinia-heartwall does one after the other, and the steps of each of its warps.
 *
 * A template of T x T points is sought in an area of A x A; C = T + A - 1, P = A + 2 T; arrays are column-major. A
 * phase goes over elements in rounds of 256 (MAP), lets threads walk rows or columns (WALK), convolves, or handles
 * where the point is; most end with a barrier. A step is a body of a warp: a round, a walk, or trips of a
 * convolution's loops that the same lanes make. Blocks differ in addresses only, so the steps are listed once for
 * each of the 8 warps.
 * Worked example: T = 2, A = 3: C = 4; outputs (i, j) of the convolution, i, j = 1 to 4, take 1, 2, 2, 1 trips in
 * each direction: 36 loads of lanes.
 * Source: Rodinia 3.1, cuda/heartwall/kernel.cu (phases, in its order), main.cu (sizes). */
#ifndef TRACE_WORKLOADS_RODINIA_PARTS_HEARTWALL_PHASES_H
#define TRACE_WORKLOADS_RODINIA_PARTS_HEARTWALL_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

enum { HEARTWALL_THREADS = 256, HEARTWALL_WARPS = 8, HEARTWALL_MOVE = 10 /* the mask is 10 x 10 */ };

/* Arrays by the role that they have for a block. */
enum heartwall_array {
    HW_FRAME,
    HW_ROW,
    HW_COLUMN,
    HW_ROW_TO, /* where the point is in each frame */
    HW_COLUMN_TO,
    HW_TEMPLATE,
    HW_AREA, /* from here on each block has its own: in2, conv, .. */
    HW_CONV,
    HW_PAD,
    HW_PAD_SELECTED,
    HW_SUM,
    HW_SUM_SELECTED,
    HW_SUB,
    HW_AREA_SQUARED,
    HW_SUB_SQUARED,
    HW_TEMPLATE_SQUARED,
    HW_MASK,
    HW_MASK_CONV,
    HW_ARRAYS,
    HW_NONE = 255
};

enum heartwall_kind {
    HW_MAP,      /* up to two loads for each element, a store */
    HW_WALK,     /* threads up to `n` load, and store, `turns` elements */
    HW_CONVOLVE, /* of the template, in shared memory, and the area */
    HW_CONVOLVE_MASK,
    HW_PLACE,  /* thread 0 loads where the point is and stores where it is now */
    HW_POINT,  /* all threads load where it is */
    HW_BEFORE, /* and where it was a frame ago */
    HW_FOLLOW, /* all threads set where it is to where it was found */
    HW_SYNC,   /* shared memory only */
};

/* Element e of the map is element (e / rows + column) pitch + e % rows + row of the array. */
struct heartwall_source {
    uint8_t array; /* HW_NONE: no load */
    int32_t pitch, row, column;
};

struct heartwall_phase {
    uint8_t kind, store; /* store: array; HW_NONE: none */
    bool backwards;      /* the source is read from its end on */
    bool inside;         /* only the middle of the map has a source: those beyond are stored as 0 */
    bool point;          /* each round loads where the point is first */
    bool free;           /* no barrier behind it */
    int32_t n, rows;     /* map: elements, rows; walk: threads */
    struct heartwall_source source[2];
    int32_t turns, lane, turn; /* walk: elements from a lane, a turn to the next */
};

struct heartwall_shape {
    int32_t template, area; /* T, A */
};

struct heartwall_step {
    uint8_t phase;
    bool last; /* convolutions: the store; maps, walks: not used */
    uint16_t round;
    uint16_t outer, inner,
        turns; /* trips of a convolution's loops: number of the outer, first of the inner, how many */
    uint32_t active;
};

enum { HEARTWALL_PHASES = 40 };

struct heartwall_program {
    struct heartwall_phase phase[HEARTWALL_PHASES];
    unsigned phases;
    struct heartwall_step *step[HEARTWALL_WARPS];
    size_t steps[HEARTWALL_WARPS];
};

/* The trips of an output's loops, and where they begin: output (i, j), from 1 on; conv: the area's element behind the
 * first load; mask: the mask array's. */
struct heartwall_trips {
    int32_t outer, inner, first_column, first_row; /* of the array loaded, from 0 on */
};

struct heartwall_trips heartwall_trips(const struct heartwall_shape *shape, bool mask, int32_t e);

enum heartwall_part { HW_CUT, HW_TRACK, HW_UPDATE }; /* frame 0; later ones; besides in every tenth */

/* Append the phases of a part, in the order of the source. */
void heartwall_phases(struct heartwall_program *p, const struct heartwall_shape *shape, enum heartwall_part part);

/* Phases and steps. Released with heartwall_program_release(), whatever is returned. */
int heartwall_program_init(struct heartwall_program *p, const struct heartwall_shape *shape, enum heartwall_part part,
                           struct err *err);
void heartwall_program_release(struct heartwall_program *p);

#endif
