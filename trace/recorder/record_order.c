#include "trace/recorder/record_order.h"

#include <stdlib.h>

#include "trace/base/mem.h"

static bool earlier(const struct record_order_item *a, const struct record_order_item *b)
{
    return a->message.time != b->message.time ? a->message.time < b->message.time : a->arrival < b->arrival;
}

int record_order_put(struct record_order *order, const struct record_pipe_message *message, struct err *err)
{
    if (mem_grow((void **)&order->heap, &order->cap, order->n + 1, sizeof *order->heap, err))
        return -1;
    const struct record_order_item item = {*message, order->arrivals++};
    size_t i = order->n++;
    while (i > 0 && earlier(&item, &order->heap[(i - 1) / 2])) {
        order->heap[i] = order->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    order->heap[i] = item;
    return 0;
}

bool record_order_take(struct record_order *order, size_t keep, struct record_pipe_message *message)
{
    if (order->n <= keep)
        return false;
    *message = order->heap[0].message;
    const struct record_order_item last = order->heap[--order->n];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= order->n)
            break;
        if (child + 1 < order->n && earlier(&order->heap[child + 1], &order->heap[child]))
            child++;
        if (!earlier(&order->heap[child], &last))
            break;
        order->heap[i] = order->heap[child];
        i = child;
    }
    if (order->n > 0)
        order->heap[i] = last;
    return true;
}

bool record_order_take_until(struct record_order *order, int64_t until, struct record_pipe_message *message)
{
    return order->n > 0 && order->heap[0].message.time <= until && record_order_take(order, 0, message);
}

void record_order_release(struct record_order *order)
{
    free(order->heap);
    *order = (struct record_order){0};
}
