/* recorded_program: a recording of accesses as a program, whose warps a GPU's model can run.
 *
 * A warp's accesses in its own order, whole sectors each; of which blocks and warps a launch is, its row of table
 * kernels says, else its accesses. Memory that stays on the GPU is an allocation of that kind (derive_space.h).
 * Differs: which load is waited for is not recorded. Loads are taken to be under way together until the warp writes or
 * jumps back, as a loop does; an address that is itself loaded (b[a[i]]) is asked for too early: the least time. With
 * `waits` a warp waits for each of its loads before the next: the most that waiting takes. Other instructions and
 * barriers are not recorded, and take no time in either. */
#pragma once

#include "replay/derive/derive.h"

struct recorded_program;

/* Of source->store, which may be closed afterwards; 16 bytes for an access are kept. NULL with *err set. */
struct recorded_program *recorded_program_open(const struct derive_source *source, bool waits, struct err *err);
void recorded_program_close(struct recorded_program *recorded); /* NULL: nothing */

/* Bytes of the sectors that stores and atomic accesses have of memory that does not stay on the GPU, each time. */
uint64_t recorded_program_stored(const struct recorded_program *recorded);

/* Valid until it is closed. */
struct program recorded_program_of(const struct recorded_program *recorded);
