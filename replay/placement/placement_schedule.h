/* placement_schedule: tasks on one integrated GPU, one after another, or kernel by kernel with kernels of two tasks
 * side by side; section IV-B of Bateni et al. 2020.
 *
 * The waiting queue is ordered by earliest deadline; a task's deadline is its execution time, so the order is shortest
 * first. Each round releases the next kernel of the first task. A managed launch that maps pages leaves the GPU idle
 * while it does: the device kernels of waiting tasks, in order of deadline, run there as far as they fit whole. A
 * device kernel at the head is released with the first managed launch whose mapping it fits in. Only mapping is
 * overlapped: cache flushes, copies and the CPU's work never are, nor are two managed or two device kernels. Time
 * therefore never exceeds the tasks in turn. A managed task's launches that map come first, each maps as much; those
 * behind map nothing and wait in the queue like others.
 *
 * Where tasks may be re-assigned, the head, not yet begun, is looked at beside the next in the queue: if one under
 * device and the other under managed memory overlap and take less together than they would as they are, that is what
 * they get, unless it would break guideline 2 (11). So the same task may be placed otherwise beside another neighbour.
 *
 * Worked example: 1 GiB mapped in 1 of 512 launches, 9 ms, beside 1,000 device kernels of 0.1 ms: 90 run there. */
#ifndef REPLAY_PLACEMENT_PLACEMENT_SCHEDULE_H
#define REPLAY_PLACEMENT_PLACEMENT_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

#include "models/placement/overhead.h"

struct schedule_task {
    enum placement placement;
    double kernels;    /* launches */
    double mappings;   /* of them, those that map pages, managed memory only; idle_ms is theirs, evenly */
    double exec_ms;    /* execution part of all kernels, including cache misses under pinned memory */
    double idle_ms;    /* mapping of all kernels; 0 under device memory */
    double launch_ms;  /* flushes of the CPU's cache before the launches that map: never overlapped */
    double flush_ms;   /* the GPU's cache at the end of each kernel: never overlapped */
    double copy_in_ms; /* device memory only */
    double copy_out_ms;
    double cpu_ms, arrival_ms;
    double bytes; /* held from start to finish */
};

struct schedule_slot {
    double start_ms, finish_ms;
    int partner;       /* index of the first task it ran beside; -1: none */
    double overlap_ms; /* device kernels inside idle periods; on both tasks */
    bool reassigned;   /* placed otherwise than it came, for its neighbour's sake */
};

struct schedule {
    struct schedule_slot *slots; /* one per task */
    double end_ms;
    double busy_ms;    /* GPU executing a kernel */
    double peak_bytes; /* largest sum of bytes held at once */
    double mean_response_ms;
    double pairs; /* managed launches beside which device kernels ran */
};

/* Execution time of a task by itself. */
double schedule_alone_ms(const struct schedule_task *task);

/* What two tasks that start together save, 0 if they may not overlap. Either order of arguments. */
double schedule_overlap_ms(const struct schedule_task *a, const struct schedule_task *b);

/* Fill *schedule. other: NULL, or every task as it would be under device (other[2 i]) and managed memory
 * (other[2 i + 1]): those that are re-assigned are changed in `tasks`. Without corun, tasks run one after another. */
int schedule_run(struct schedule *schedule, struct schedule_task *tasks, size_t count, bool corun,
                 const struct schedule_task *other, struct err *err);
void schedule_release(struct schedule *schedule);

#endif
