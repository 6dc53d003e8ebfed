/* schedule_queue: waiting tasks in order of deadline, and the first of them that fits. A tree over ranks; every answer
 * takes time in the logarithm of the number of tasks. */
#ifndef REPLAY_PLACEMENT_SCHEDULE_QUEUE_H
#define REPLAY_PLACEMENT_SCHEDULE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/err.h"

/* What a waiting task offers next: a device kernel's execution, or the mapping that a managed launch begins with. */
struct schedule_offer {
    bool waiting;
    double exec_ms; /* of a device kernel; INFINITY: none, or one that takes no time */
    double idle_ms; /* of a managed launch; -1: none */
};

struct schedule_queue {
    struct schedule_offer *node; /* 1 the root, children of i are 2 i and 2 i + 1: any, least, most of those below */
    size_t leaves;               /* a power of two */
};

/* Nobody waits. Released after failure too. */
int schedule_queue_init(struct schedule_queue *queue, size_t count, struct err *err);
void schedule_queue_release(struct schedule_queue *queue);

void schedule_queue_set(struct schedule_queue *queue, size_t rank, struct schedule_offer offer);

/* The first rank >= `from` that waits; that waits with a device kernel of at most `room` ms; that waits with a mapping
 * of at least `exec` ms. SIZE_MAX: none. */
size_t schedule_queue_first(const struct schedule_queue *queue, size_t from);
size_t schedule_queue_device(const struct schedule_queue *queue, size_t from, double room);
size_t schedule_queue_managed(const struct schedule_queue *queue, size_t from, double exec);

#endif
