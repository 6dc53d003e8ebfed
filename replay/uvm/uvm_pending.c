#include "replay/uvm/uvm_pending.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

void uvm_pending_release(struct uvm_pending *p)
{
    free(p->events);
    *p = (struct uvm_pending){0};
}

/* Pages that come again have gone meanwhile: they come now, not when they would have. */
static void come_again(struct uvm_pending *p, const struct uvm_arrival *event)
{
    for (size_t i = p->head; i < p->count; i++)
        if (p->events[i].block == event->block)
            page_mask_andnot(&p->events[i].pages, &p->events[i].pages, &event->pages);
}

int uvm_pending_add(struct uvm_pending *p, const struct uvm_arrival *event, struct err *err)
{
    if (event->block != UVM_PENDING_REPLAY)
        come_again(p, event);
    if (p->head == p->count)
        p->head = p->count = 0;
    if (p->head && p->count == p->cap) {
        memmove(p->events, p->events + p->head, (p->count - p->head) * sizeof *p->events);
        p->count -= p->head;
        p->head = 0;
    }
    if (mem_grow((void **)&p->events, &p->cap, p->count + 1, sizeof *p->events, err))
        return -1;
    size_t i = p->count++;
    for (; i > p->head && p->events[i - 1].time_ns > event->time_ns; i--)
        p->events[i] = p->events[i - 1];
    p->events[i] = *event;
    return 0;
}

int uvm_pending_add_replay(struct uvm_pending *p, int64_t time_ns, struct err *err)
{
    return uvm_pending_add(p, &(struct uvm_arrival){.time_ns = time_ns, .block = UVM_PENDING_REPLAY}, err);
}

static void happen(struct uvm_gpu *g, const struct uvm_arrival *event)
{
    if (event->block == UVM_PENDING_REPLAY)
        uvm_gpu_replay(g, event->time_ns);
    else
        uvm_memory_show(g->memory, event->block, &event->pages);
}

int uvm_pending_run(struct uvm_pending *p, struct uvm_gpu *g, int64_t until_ns, struct err *err)
{
    for (;;) {
        bool more = p->head < p->count && p->events[p->head].time_ns <= until_ns;
        int64_t stop_ns = more ? p->events[p->head].time_ns : until_ns;
        if (uvm_gpu_run(g, stop_ns, err))
            return -1;
        if (!more || g->stop_ns < stop_ns)
            return 0;
        happen(g, &p->events[p->head++]);
    }
}

int64_t uvm_pending_settle(struct uvm_pending *p, struct uvm_gpu *g, int64_t time_ns)
{
    for (; p->head < p->count; p->head++) {
        const struct uvm_arrival *event = &p->events[p->head];
        time_ns = event->time_ns > time_ns ? event->time_ns : time_ns;
        happen(g, event);
    }
    return time_ns;
}
