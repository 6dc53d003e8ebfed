/* schedule_bound: how soon a set of tasks could be done at best, whatever their placements and order.
 *
 * A set takes its tasks' times less what overlaps, and no more can overlap than the device kernels execute (A), nor
 * than the managed ones map (B): time >= max(sum alone - A, sum alone - B) >= l (sum alone - A) + (1 - l) (sum alone -
 * B) for any l in [0, 1], which is least where each task by itself has the form that makes its own part least. The
 * bound is the largest of these over a grid of l. It is below the optimum: it cuts kernels, and any order will do.
 * Worked example: one task, 5 ms of execution; device copies 4 ms, managed maps 1 and flushes 2: l = 0: device 9,
 * managed 8 - 1 = 7; l = 1: device 4, managed 8; at l = 1/3 both are 7.33, the bound; alone it takes 8. */
#ifndef REPLAY_PLACEMENT_SCHEDULE_BOUND_H
#define REPLAY_PLACEMENT_SCHEDULE_BOUND_H

#include "replay/placement/placement_schedule.h"

/* forms: for each task what it is under device, managed and pinned memory, one after the other; one of `kernels` 0 is
 * not to be had. Arrivals only make it later. */
double schedule_bound_ms(const struct schedule_task *forms, size_t count);

#endif
