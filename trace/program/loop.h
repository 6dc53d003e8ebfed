/* loop: which threads a warp has, and the trips that they make through a loop, as bodies.
 *
 * A compiled loop stands `unroll` times in a turn; trips that are left over follow one by one, in a loop of their own
 * behind it. Lanes that do one trip more than the others leave the unrolled loop later, or the rest loop.
 * Worked example: 10 trips, an eleventh for lanes 0 to 3, unrolled by four: two turns of four trips, two turns of one
 * trip, one turn of one trip for lanes 0 to 3. With 11 trips and a twelfth: two turns of four; a third for lanes 0 to
 * 3; three turns of one trip for the others.
 * Source: the order, unrolled loop first: what nvcc 13.0 makes for sm_90 of fixtures/cuda/kernels.cu (bicg). */
#ifndef TRACE_PROGRAM_LOOP_H
#define TRACE_PROGRAM_LOOP_H

#include "trace/program/program.h"

struct program_warp {
    uint64_t block, thread; /* linear; thread: of lane 0, over the whole launch */
    uint32_t warp;          /* in the block */
    uint32_t lanes;         /* threads in it, 1 to 32: lanes 0 to lanes - 1 */
};

struct program_loop {
    uint64_t trips;  /* of every active lane */
    uint32_t active; /* a mask */
    uint32_t more;   /* those of them that do one trip more; never all */
    uint32_t unroll; /* >= 1 */
};

/* Turns that are one body. */
struct program_part {
    uint64_t first; /* trip of its first turn */
    uint64_t turns; /* >= 1 */
    uint32_t trips; /* of a turn: 1 or unroll */
    uint32_t active;
    bool last; /* no part follows */
};

/* Where warp number `warp` of a launch stands. */
struct program_warp program_warp_at(const struct program_launch *launch, uint64_t warp);

/* for (i = first + lane; i < n; i += step), lanes 0 to lanes - 1; step >= lanes. */
struct program_loop program_grid_stride(uint64_t first, uint32_t lanes, uint64_t step, uint64_t n, uint32_t unroll);

/* Part number `index` of the loop; false: it has none. */
bool program_loop_part(const struct program_loop *loop, uint32_t index, struct program_part *part);

/* What a warp without a trip does: so many instructions, as its only body. Returns what program_ops.body returns. */
static inline int program_no_trip(uint32_t index, uint32_t instructions, struct program_body *body)
{
    body->after = instructions;
    body->last = true;
    return index == 0;
}

#endif
