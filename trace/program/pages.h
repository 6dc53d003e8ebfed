/* pages: the view of a program that unified memory takes: its warps as actors that touch pages.
 *
 * A step is what a warp issues until it must wait: the pages of its loads, asked for together; then, while it computes,
 * the pages of the stores that follow. Turns of a body that touch the same pages are one step (`turns`), if a turn has
 * no more than one wait: such a step is the expansion exactly. A step loads or stores at most ACTOR_LOADS or
 * ACTOR_STORES pages; an instruction that would exceed that begins the next step.
 * Allocations that are in GPU memory in any case (program_alloc.device) are not managed: their accesses cost
 * instructions, sectors and waits, but touch no page. An address outside its allocation belongs to the allocation that
 * lies there, if one does. Explicit allocations that share pages are moved: as managed memory each is one of its own,
 * on a 2 MiB boundary.
 * Example: 32 lanes load 4 B each, 128 B further on each turn, from byte 0: step 1 touches page 0 in 32 turns, step 2
 * page 1.
 * Source: warps as actors, what one has pending: uvm-eval's logs abc_1, abc_2 of a TITAN V (64 reads of a warp arrive
 * together, its 32 stores later).
 * Differs: a warp that waits for one load waits for all it has issued; a store between a load and its use is issued
 * when the load has come back; barriers make nobody wait; sectors are counted for each instruction by itself, except
 * where the instruction before it touched the same ones. */
#pragma once

#include "trace/event/actor.h"
#include "trace/program/program.h"

struct store;

struct program_pages {
    const struct program *program;
    struct actor_alloc allocs[PROGRAM_ALLOCS]; /* the managed ones */
    size_t count;
    int8_t managed[PROGRAM_ALLOCS]; /* by allocation of the program: its place in allocs[]; -1: none */
    uint64_t moved[PROGRAM_ALLOCS]; /* likewise: how far its address lies from the program's, modulo 2^64 */
    uint32_t own_kib; /* in GPU memory in any case, all together: what a step says that waits for some of it */
    bool unroll;      /* every turn is a step of its own (what closed forms are compared with) */
};

/* advice: of every allocation, by the program's numbers (enum actor_advice), besides the program's own; NULL: none.
 * Fails if no allocation is managed, or a launch is none that can be. */
int program_pages_init(struct program_pages *pages, const struct program *program, const uint32_t *advice,
                       struct err *err);

/* The byte that a lane accesses in a turn, where its allocation lies as managed memory. */
static inline uint64_t program_pages_addr(const struct program_pages *pages, const struct program_access *a,
                                          unsigned lane, uint64_t turn)
{
    return program_addr(a, lane, turn) + pages->moved[a->alloc];
}

/* Body number `index` of a warp by a run of program_pages_ops, as program_body(); valid until the run is asked again,
 * and the steps of this body do not ask the program for it once more. */
int program_pages_body(void *run, uint32_t launch, uint32_t warp, uint32_t index, const struct program_body **body,
                       struct err *err);

/* state: a const struct program_pages *. */
extern const struct actor_ops program_pages_ops;

/* Write actors to a trace: the stream "touches" with its extra columns, tables allocations and kernels: what
 * replay/uvm/actor_input.h reads again. A replay of the trace gives what a replay of the actors gives.
 * wrote: called with the number of records of each batch; NULL: nobody counts. */
int touches_write(struct store *store, const struct actor_ops *ops, const void *state,
                  void (*wrote)(void *ctx, size_t records), void *ctx, struct err *err);
