/* schedule_testing: for the tests of the schedule: random tasks, and what is best of all, by trying. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "replay/placement/placement_schedule.h"

static uint64_t schedule_state = 1;
static inline double schedule_any(double hi)
{
    schedule_state = schedule_state * 6364136223846793005u + 1442695040888963407u;
    return hi * (double)(schedule_state >> 40) / 0x1p24;
}

/* One task under device, managed and pinned memory: same kernels and execution. */
static inline void schedule_any_forms(struct schedule_task forms[PLACEMENTS], double kernels_max)
{
    double kernels = 1 + floor(schedule_any(kernels_max - 0.01)), exec = schedule_any(5), bytes = schedule_any(100);
    for (int p = 0; p < PLACEMENTS; p++)
        forms[p] = (struct schedule_task){
            .placement = (enum placement)p, .kernels = kernels, .exec_ms = exec, .bytes = bytes * (p ? 1 : 2)};
    forms[PLACEMENT_DEVICE].copy_in_ms = schedule_any(3);
    forms[PLACEMENT_DEVICE].copy_out_ms = schedule_any(2);
    forms[PLACEMENT_MANAGED].mappings = floor(schedule_any(kernels + 0.99));
    forms[PLACEMENT_MANAGED].idle_ms = forms[PLACEMENT_MANAGED].mappings ? schedule_any(12) : 0;
    forms[PLACEMENT_MANAGED].flush_ms = schedule_any(2);
    forms[PLACEMENT_MANAGED].launch_ms = schedule_any(1);
    forms[PLACEMENT_PINNED].idle_ms = schedule_any(6);
    forms[PLACEMENT_PINNED].exec_ms += schedule_any(6);
}

/* The most execution that fits in the idle periods: each kernel from `k` on in a period, or in none. */
static inline double schedule_pack(const double *kernel, size_t kernels, double *room, size_t rooms, size_t k)
{
    if (k == kernels)
        return 0;
    double best = schedule_pack(kernel, kernels, room, rooms, k + 1);
    for (size_t i = 0; i < rooms; i++)
        if (room[i] >= kernel[k]) {
            room[i] -= kernel[k];
            best = fmax(best, kernel[k] + schedule_pack(kernel, kernels, room, rooms, k + 1));
            room[i] += kernel[k];
        }
    return best;
}

/* The least time of tasks that are all there, their placements given: whatever the order, time is their sum less what
 * overlaps. At most 32 kernels and periods. */
static inline double schedule_best_ms(const struct schedule_task *t, size_t count)
{
    double kernel[32], room[32], sum = 0;
    size_t kernels = 0, rooms = 0;
    for (size_t i = 0; i < count; i++) {
        sum += schedule_alone_ms(&t[i]);
        for (double k = 0; k < t[i].kernels && t[i].placement == PLACEMENT_DEVICE; k++)
            kernel[kernels++] = t[i].exec_ms / t[i].kernels;
        for (double k = 0; k < t[i].mappings && t[i].placement == PLACEMENT_MANAGED; k++)
            room[rooms++] = t[i].idle_ms / t[i].mappings;
    }
    return sum - schedule_pack(kernel, kernels, room, rooms, 0);
}

/* The same over all placements, three forms of each task. */
static inline double schedule_best_of_all_ms(const struct schedule_task *forms, size_t count)
{
    double best = INFINITY;
    int ways = 1;
    for (size_t i = 0; i < count; i++)
        ways *= PLACEMENTS;
    for (int way = 0; way < ways; way++) {
        struct schedule_task t[8];
        int rest = way;
        for (size_t i = 0; i < count; i++, rest /= PLACEMENTS)
            t[i] = forms[PLACEMENTS * i + (size_t)(rest % PLACEMENTS)];
        best = fmin(best, schedule_best_ms(t, count));
    }
    return best;
}
