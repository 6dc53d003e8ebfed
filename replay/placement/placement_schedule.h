/* placement_schedule: tasks on one integrated GPU, one after another or co-run in pairs; section IV-B of Bateni et al.
 * 2020.
 *
 * The waiting queue is ordered by earliest deadline; a deadline is a task's execution time, so the order is shortest
 * first. A pair is one task under device memory and one under managed memory, such that the execution part of a device
 * kernel fits in the idle period (page mapping) of a managed kernel. Only mapping is overlapped: cache flushes and
 * copies never are, and no other pairs are made. A pair therefore never takes longer than its tasks in turn. */
#ifndef REPLAY_PLACEMENT_PLACEMENT_SCHEDULE_H
#define REPLAY_PLACEMENT_PLACEMENT_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "models/placement/overhead.h"

struct schedule_task {
    enum placement placement;
    double kernels;    /* launches */
    double exec_ms;    /* execution part of all kernels, including cache misses under pinned memory */
    double idle_ms;    /* mapping of all kernels; 0 under device memory */
    double flush_ms;   /* cache maintenance of all kernels: never overlapped */
    double copy_in_ms; /* device memory only */
    double copy_out_ms;
    double cpu_ms, arrival_ms;
    double bytes; /* held from start to finish */
};

struct schedule_slot {
    double start_ms, finish_ms;
    int partner;       /* index of the task it ran beside; -1: alone */
    double overlap_ms; /* execution of the device task inside idle periods; on both tasks of a pair */
};

struct schedule {
    struct schedule_slot *slots; /* one per task */
    double end_ms;
    double busy_ms;    /* GPU executing a kernel */
    double peak_bytes; /* largest sum of bytes held at once */
    double mean_response_ms;
    size_t pairs;
};

/* Execution time of a task by itself. */
double schedule_alone_ms(const struct schedule_task *task);

/* What a pair saves, 0 if it may not be made. Either order of arguments. */
double schedule_overlap_ms(const struct schedule_task *a, const struct schedule_task *b);

int schedule_run(struct schedule *schedule, const struct schedule_task *tasks, size_t count, bool corun,
                 struct err *err);
void schedule_release(struct schedule *schedule);

#endif
