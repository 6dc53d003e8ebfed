/* prefix: a program of which each warp does only its first accesses.
 *
 * For programs that cannot be cut by whole waves of blocks (trace/program/cut.h), because all of their blocks are
 * resident at once, and that no cache stands before: kernels of processing in memory, whose 32 warps each stream to a
 * channel of their own. Each warp of a launch ends behind so many accesses, at the end of a turn. Worked example: turns
 * of 48 accesses, 100 asked for: three turns, 144. */
#ifndef TRACE_PROGRAM_PREFIX_H
#define TRACE_PROGRAM_PREFIX_H

#include "trace/program/program.h"

struct program_prefix;

struct program_prefix_facts {
    uint64_t accesses, whole; /* of warp 0 of the first launch */
};

/* At most about `accesses` (not 0) of each warp and launch. The program must outlive it. NULL with *err set. */
struct program_prefix *program_prefix_new(const struct program *whole, uint64_t accesses, struct err *err);
void program_prefix_free(struct program_prefix *prefix); /* NULL is allowed */

/* The shortened program; valid as long as the prefix. */
const struct program *program_prefix_program(const struct program_prefix *prefix);

struct program_prefix_facts program_prefix_facts(const struct program_prefix *prefix);

#endif
