#include "replay/placement/schedule_queue.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static const struct schedule_offer nobody = {.exec_ms = INFINITY, .idle_ms = -1};

int schedule_queue_init(struct schedule_queue *queue, size_t count, struct err *err)
{
    queue->leaves = 1;
    while (queue->leaves < count)
        queue->leaves *= 2;
    queue->node = mem_zalloc(2 * queue->leaves, sizeof *queue->node, err);
    for (size_t i = 0; queue->node && i < 2 * queue->leaves; i++)
        queue->node[i] = nobody;
    return queue->node ? 0 : -1;
}

void schedule_queue_release(struct schedule_queue *queue)
{
    free(queue->node);
    memset(queue, 0, sizeof *queue);
}

void schedule_queue_set(struct schedule_queue *queue, size_t rank, struct schedule_offer offer)
{
    size_t i = queue->leaves + rank;
    queue->node[i] = offer.waiting ? offer : nobody;
    for (i /= 2; i; i /= 2) {
        const struct schedule_offer *a = &queue->node[2 * i], *b = a + 1;
        queue->node[i] = (struct schedule_offer){a->waiting || b->waiting, fmin(a->exec_ms, b->exec_ms),
                                                 fmax(a->idle_ms, b->idle_ms)};
    }
}

/* What a node must offer: kernels of at most `room`, mappings of at least `idle`; neutral where it does not matter. */
static bool offers(const struct schedule_offer *o, double room, double idle)
{
    return o->waiting && o->exec_ms <= room && o->idle_ms >= idle;
}

/* Up from the leaf to the first subtree to the right that offers it, then down its left side. */
static size_t find(const struct schedule_queue *queue, size_t from, double room, double idle)
{
    if (from >= queue->leaves)
        return SIZE_MAX;
    size_t i = queue->leaves + from;
    while (!offers(&queue->node[i], room, idle)) {
        while (i & 1) { /* a right child: its parent's right neighbour is next */
            i /= 2;
            if (i <= 1)
                return SIZE_MAX;
        }
        i++;
    }
    while (i < queue->leaves)
        i = offers(&queue->node[2 * i], room, idle) ? 2 * i : 2 * i + 1;
    return i - queue->leaves;
}

size_t schedule_queue_first(const struct schedule_queue *queue, size_t from)
{
    return find(queue, from, INFINITY, -1);
}

size_t schedule_queue_device(const struct schedule_queue *queue, size_t from, double room)
{
    return find(queue, from, room, -1);
}

size_t schedule_queue_managed(const struct schedule_queue *queue, size_t from, double exec)
{
    return find(queue, from, INFINITY, exec);
}
