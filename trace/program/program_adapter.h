/* program_adapter: a program made from another one, as a view of it. What all of these share (cut.h and warp_slice.h
 * too), and three small ones: allocations put on the GPU, the first blocks of each launch, the first accesses of each
 * warp. Memory is the whole
 * program's; a run is a run of the whole one beside the state. The whole program must outlive what is made of it. */
#pragma once

#include "trace/program/program.h"

/* The first member of the state. */
struct program_adapter {
    struct program whole, program; /* program: what is made of it */
};

/* What body() of its ops takes. */
struct program_adapter_run {
    const struct program_adapter *adapter; /* the state */
    void *run;                             /* of the whole */
};

void program_adapter_init(struct program_adapter *adapter, const struct program *whole, const struct program_ops *ops);

/* program_ops, as the whole one has them; and those of a state that has its own launches and bodies. */
const struct program_alloc *program_adapter_allocs(const void *state, size_t *n);
uint32_t program_adapter_launches(const void *state);
void program_adapter_launch(const void *state, uint32_t number, struct program_launch *out);
void *program_adapter_open(const void *state, struct err *err);
void program_adapter_close(void *run);

#define PROGRAM_ADAPTER_OPS(LAUNCHES, LAUNCH, BODY)                                                                    \
    .allocs = program_adapter_allocs, .launches = (LAUNCHES), .launch = (LAUNCH), .body = (BODY),                      \
    .run_open = program_adapter_open, .run_close = program_adapter_close

/* --- placed: some allocations are explicit ones in GPU memory, whatever mechanism is asked about the others. All else
 * is the whole one's: launches, bodies, addresses --- */

struct program_placed {
    struct program_adapter adapter;
    struct program_alloc allocs[PROGRAM_ALLOCS];
    size_t count;
};

/* on_gpu: bit i: allocation i (of at most 64), besides those that are the GPU's in any case. */
void program_placed_init(struct program_placed *placed, const struct program *whole, uint64_t on_gpu);

/* --- first: of each launch the first blocks, as many as are said. Memory stays the whole one's --- */

struct program_first {
    struct program_adapter adapter;
    const uint64_t *blocks; /* by launch, 1 to all; the same of launches that are the same; must outlive */
};

void program_first_init(struct program_first *first, const struct program *whole, const uint64_t *blocks);

/* --- prefix: each warp does only its first accesses ---
 *
 * For programs that cannot be cut by whole waves of blocks (trace/program/cut.h), because all of their blocks are
 * resident at once, and that no cache stands before: kernels of processing in memory, whose 32 warps each stream to a
 * channel of their own. Each warp of a launch ends behind so many accesses, at the end of a turn. Worked example: turns
 * of 48 accesses, 100 asked for: three turns, 144. */

struct program_prefix {
    struct program_adapter adapter;
    uint64_t most; /* accesses */
    /* Of warp 0 of the first launch; others whose bodies are alike end at the same place, others later or earlier: a
     * body is looked at by itself. */
    uint32_t *before; /* accesses in the bodies before body i, at most UINT32_MAX */
    size_t bodies, cap;
    uint64_t accesses, whole; /* kept; all of them */
};

/* At most about `accesses` (not 0) of each warp and launch. NULL with *err set. */
struct program_prefix *program_prefix_new(const struct program *whole, uint64_t accesses, struct err *err);
void program_prefix_free(struct program_prefix *prefix); /* NULL is allowed */
