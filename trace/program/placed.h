/* placed: a program of which some allocations are put into GPU memory by an explicit allocation, whatever mechanism is
 * asked about the others. All else is the whole one's: launches, bodies, addresses. */
#ifndef TRACE_PROGRAM_PLACED_H
#define TRACE_PROGRAM_PLACED_H

#include "trace/program/program.h"

struct program_placed;

/* on_gpu: bit i: allocation i (of at most 64), besides those that are the GPU's in any case. The program must outlive
 * it. NULL with *err set. */
struct program_placed *program_placed_new(const struct program *whole, uint64_t on_gpu, struct err *err);
void program_placed_free(struct program_placed *placed); /* NULL is allowed */

/* Valid as long as `placed`. */
const struct program *program_placed_program(const struct program_placed *placed);

#endif
