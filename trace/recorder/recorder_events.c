#include "trace/recorder/recorder_events.h"

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

/* --- ranges --- */

enum { MARK = 1, BEGIN = 2, MOST_OPEN = 1 << 20 };

static int name_of(struct recorder_ranges *r, uint64_t text, uint32_t *row, int64_t *name, struct err *err)
{
    uint64_t before = r->names.count;
    if (id_map_number(&r->names, text, row, err))
        return -1;
    if (r->names.count > before)
        *name = *row;
    return 0;
}

static int begin(struct recorder_ranges *r, const struct record_pipe_message *m, int64_t *name, struct err *err)
{
    uint32_t row;
    if (r->open_count == MOST_OPEN)
        return err_set(err, "more than %d ranges are open at once", MOST_OPEN);
    if (name_of(r, m->id, &row, name, err) ||
        mem_grow((void **)&r->open, &r->cap, r->open_count + 1, sizeof *r->open, err))
        return -1;
    r->open[r->open_count++] = (struct recorder_range){m->addr, m->time, row, m->group};
    return 0;
}

/* Ranges are mostly nested: the one that ends is among the last that began. */
static int end(struct recorder_ranges *r, const struct record_pipe_message *m, struct record *record)
{
    for (size_t i = r->open_count; i-- > 0;) {
        const struct recorder_range o = r->open[i];
        if (o.number != m->addr || m->time < o.time)
            continue;
        *record = (struct record){.kind = RECORD_RANGE,
                                  .time = o.time,
                                  .duration = m->time - o.time,
                                  .id = (uint64_t)o.name,
                                  .group = o.thread};
        r->open[i] = r->open[--r->open_count];
        return 1;
    }
    return 0;
}

int recorder_ranges_take(struct recorder_ranges *r, const struct record_pipe_message *m, struct record *record,
                         int64_t *name, struct err *err)
{
    uint32_t row;
    if (m->kind & BEGIN)
        return begin(r, m, name, err);
    if (!(m->kind & MARK))
        return end(r, m, record);
    if (name_of(r, m->id, &row, name, err))
        return -1;
    *record = (struct record){.kind = RECORD_RANGE, .time = m->time, .id = row, .group = m->group};
    return 1;
}

void recorder_ranges_release(struct recorder_ranges *r)
{
    id_map_release(&r->names);
    free(r->open);
    *r = (struct recorder_ranges){0};
}
