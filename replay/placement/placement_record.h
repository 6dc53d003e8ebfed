/* placement_record: a recording of a CUDA program as a task to be placed.
 *
 * Recorded: kernels, durations, copies, allocations, and of managed memory what migrated. Bounded: how many bytes
 * kernels touch, and which launches find a dirty CPU cache. Not there: L2 figures, so pinned memory cannot be judged.
 *
 * Of managed memory:
 *     bytes_hd, bytes_dh   what migrated each way, at most all that was allocated; where pages were evicted, which come
 * back for no other reason, at least the pages that ever moved copies               one for each direction that
 * anything moved in, at most one for each allocation S_i, N_c             at least what migrated to the GPU, in the
 * kernels in which it did; at most everything, always compute_ms           the kernels' recorded time holds the service
 * of their faults: at least the time in which nothing was served or moved, at most all of it. What waits for a service
 * to begin counts as computing. A recording that has managed allocations and could not see migrations is refused. On a
 * GPU without page faults nothing migrates: everything in between 0 and what is allocated. Worked example
 * (placement_record_test.c): a kernel of 10 ms, in it two migrations of 64 KiB from 1 to 2 and 3 to 5 ms and a fault
 * from 0.5 to 1.5: 128 KiB, 1 dirty launch, 10 - 3.5 = 6.5 to 10 ms of computing. */
#ifndef REPLAY_PLACEMENT_PLACEMENT_RECORD_H
#define REPLAY_PLACEMENT_PLACEMENT_RECORD_H

#include "replay/placement/placement_tasks.h"
#include "trace/store/store.h"

/* The one task of a recording. *err if it has no kernel with a time, or cannot say what managed memory did. */
int placement_tasks_record(struct placement_tasks *tasks, struct store *store, struct err *err);

#endif
