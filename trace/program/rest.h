/* rest: what a cut (trace/program/cut.h) leaves out, as a program.
 *
 * Its launches are parts of launches of the whole program, in their order: waves of blocks between two stretches that
 * are kept, or whole launches. Those between two kept stretches, of one launch or of two, are a gap; it is passed when
 * the kept program comes to its point: before block `block` of kept launch `launch`, or, where that is the number of
 * kept launches, at the end. Of a gap that is longer than asked for only the end is there, in whole waves: enough for
 * what a cache holds after it. What the CPU does is no part of it. Worked example: two launches of 100 waves of one
 * block, a fifth kept (waves 10-14, 35-39, 60-64, 85-89): gaps at blocks 0, 5, 10 and 15 of launch 0 (10, 20, 20 and
 * 20 waves), of launch 1 (25, 20, 20, 20) and at the end (10). */
#ifndef TRACE_PROGRAM_REST_H
#define TRACE_PROGRAM_REST_H

#include "trace/program/cut.h"
#include "trace/program/middle.h"

struct program_rest;

struct program_rest_point {
    uint32_t launch; /* of the kept ones */
    uint64_t block;  /* of its kept blocks */
};

/* whole: what was cut; it and the cut must outlive the rest. sectors: of a gap, about so many sector accesses from its
 * end, by the cut's estimates, a wave at least. middle: of the cut's program, if its warps are themselves cut
 * (trace/program/middle.h; else NULL): the heads of a kept wave are the end of the gap before it, its tails the
 * beginning of the one behind it; it must outlive the rest too. to_the_end: with the gap at the end, which only a
 * program that begins again comes behind. NULL with *err set. */
struct program_rest *program_rest_new(const struct program *whole, const struct program_cut *cut, uint64_t sectors,
                                      const struct program_middle *middle, bool to_the_end, struct err *err);
void program_rest_free(struct program_rest *rest); /* NULL is allowed */

/* Valid as long as the rest; it may have no launch at all. */
const struct program *program_rest_program(const struct program_rest *rest);

/* The points of its gaps, ascending; and the gap of one of its launches, which do not descend. */
const struct program_rest_point *program_rest_points(const struct program_rest *rest, uint32_t *gaps);
uint32_t program_rest_gap(const struct program_rest *rest, uint32_t launch);

#endif
