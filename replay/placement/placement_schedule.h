/* placement_schedule: tasks on one integrated GPU, one after another, or kernel by kernel with kernels of two tasks
 * side by side; section IV-B of Bateni et al. 2020.
 *
 * The queue is ordered by earliest deadline; a task's deadline is its execution time: shortest first. Each round
 * releases the next kernel of the first task. A managed launch that maps pages leaves the GPU idle meanwhile: device
 * kernels of waiting tasks run there, in order of deadline, as far as they fit whole. A device kernel at the head is
 * released with the first managed launch whose mapping it fits in. Only mapping is overlapped, so time never exceeds
 * the tasks in turn. A managed task's launches that map come first, each maps as much; those behind wait in the queue
 * like others.
 *
 * Re-assignment looks at the head, not yet begun, and the next in the queue: if one under device and the other under
 * managed memory overlap and take less together than as they are, they get that, unless it breaks guideline 2 (11).
 *
 * Worked example: 1 GiB mapped in 1 of 512 launches, 9 ms, beside 1,000 device kernels of 0.1 ms: 90 run there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "models/placement/overhead.h"
#include "trace/base/err.h"

struct schedule_task {
    enum placement placement;
    double kernels;    /* launches */
    double mappings;   /* of them, those that map pages, managed memory only; idle_ms is theirs, evenly */
    double exec_ms;    /* execution part of all kernels, including cache misses under pinned memory */
    double idle_ms;    /* mapping of all kernels; 0 under device memory */
    double launch_ms;  /* flushes of the CPU's cache before the launches that map: never overlapped */
    double flush_ms;   /* behind kernels: the GPU's cache, and the wait for the next launch; never overlapped */
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
    double busy_ms;    /* GPU executing a kernel or copying: what the boards' load counter takes for busy */
    double peak_bytes; /* largest sum of bytes held at once */
    double mean_response_ms;
    double pairs; /* managed launches beside which device kernels ran */
};

/* Execution time of a task by itself. */
double schedule_alone_ms(const struct schedule_task *task);

/* What two tasks that start together save, 0 if they may not overlap. Either order of arguments. */
double schedule_overlap_ms(const struct schedule_task *a, const struct schedule_task *b);

/* Fill *schedule. other: NULL, or every task as it would be under each placement (other[PLACEMENTS i + placement]; of
 * pinned memory none is asked): those that are re-assigned are changed in `tasks`. Without corun, tasks run one after
 * another. */
int schedule_run(struct schedule *schedule, struct schedule_task *tasks, size_t count, bool corun,
                 const struct schedule_task *other, struct err *err);
void schedule_release(struct schedule *schedule);

/* --- how soon a set of tasks could be done at best, whatever their placements and order --- */

/* Lower bound of a set's time. A set takes its tasks' times less the overlap, which is at most what the device kernels
 * execute (A) and what the managed ones map (B): time >= max(sum alone - A, sum alone - B) >= l (sum alone - A) + (1 -
 * l) (sum alone - B) for any l in [0, 1]. That is least where each task has the form that makes its own part least. The
 * bound is the largest over a grid of l. It is below the optimum, since it cuts kernels and takes any order. Worked
 * example: one task, 5 ms of execution; device copies 4 ms, managed maps 1 and flushes 2: l = 0: device 9, managed 8 -
 * 1 = 7; l = 1: device 4, managed 8; at l = 1/3 both are 7.33, the bound; alone it takes 8. forms: each task under
 * device, managed and pinned memory in turn; `kernels` 0: not available. Arrivals only make it later. */
double schedule_bound_ms(const struct schedule_task *forms, size_t count);

/* --- waiting tasks in order of deadline, and the first of them that fits --- */

/* What a waiting task offers next: a device kernel's execution, or the mapping that a managed launch begins with. */
struct schedule_offer {
    bool waiting;
    double exec_ms; /* of a device kernel; INFINITY: none, or one that takes no time */
    double idle_ms; /* of a managed launch; -1: none */
};

/* A tree over ranks: every answer takes time in the logarithm of the number of tasks. */
struct schedule_queue {
    struct schedule_offer *node; /* 1 the root, children of i are 2 i and 2 i + 1: any, least, most of those below */
    size_t leaves;               /* a power of two */
};

/* Nobody waits. Released after failure too. */
int schedule_queue_init(struct schedule_queue *queue, size_t count, struct err *err);
void schedule_queue_release(struct schedule_queue *queue);

void schedule_queue_set(struct schedule_queue *queue, size_t rank, struct schedule_offer offer);

/* The first rank >= `from` that waits with a device kernel of at most `room` ms (INFINITY: or none) and a mapping of at
 * least `idle` ms (-1: or none). SIZE_MAX: none. */
size_t schedule_queue_find(const struct schedule_queue *queue, size_t from, double room, double idle);
