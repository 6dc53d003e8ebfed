/* wrapped: a program made of another one: what all of these (cut.h, middle.h too) share, and two that are small. Memory
 * is the whole one's; a run is a run of the whole one beside the state. */
#ifndef TRACE_PROGRAM_PROGRAM_ADAPTER_H
#define TRACE_PROGRAM_PROGRAM_ADAPTER_H

#include "trace/program/program.h"

/* The first member of the state. */
struct program_adapter {
    struct program whole, program; /* program: what is made of it */
};

/* What body() of its ops takes. */
struct program_adapter_run {
    const struct program_adapter *wrapped; /* the state */
    void *run;                             /* of the whole */
};

/* program_ops, as the whole one has them. */
const struct program_alloc *program_adapter_allocs(const void *state, size_t *n);
uint32_t program_adapter_launches(const void *state);
void program_adapter_launch(const void *state, uint32_t number, struct program_launch *out);
void *program_adapter_open(const void *state, struct err *err);
void program_adapter_close(void *run);

/* --- placed: a program of which some allocations are put into GPU memory by an explicit allocation, whatever mechanism
 * is asked about the others. All else is the whole one's: launches, bodies, addresses --- */

struct program_placed;

/* on_gpu: bit i: allocation i (of at most 64), besides those that are the GPU's in any case. The program must outlive
 * it. NULL with *err set. */
struct program_placed *program_placed_new(const struct program *whole, uint64_t on_gpu, struct err *err);
void program_placed_free(struct program_placed *placed); /* NULL is allowed */

/* Valid as long as `placed`. */
const struct program *program_placed_program(const struct program_placed *placed);

/* --- prefix: a program of which each warp does only its first accesses ---
 *
 * For programs that cannot be cut by whole waves of blocks (trace/program/cut.h), because all of their blocks are
 * resident at once, and that no cache stands before: kernels of processing in memory, whose 32 warps each stream to a
 * channel of their own. Each warp of a launch ends behind so many accesses, at the end of a turn. Worked example: turns
 * of 48 accesses, 100 asked for: three turns, 144. */

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
