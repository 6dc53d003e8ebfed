#include "replay/uvm/uvm_touching.h"

#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm_fault_log.h"
#include "trace/base/mem.h"

static uint64_t kinds_of(const struct store *store)
{
    uint64_t kinds = 0;
    for (int i = 0; store && i < store_stream_count(store); i++)
        kinds |= store_stream(store, i)->kinds;
    return kinds;
}

enum uvm_stored uvm_stored(const struct store *store)
{
    const uint64_t kinds = kinds_of(store);
    if (store && uvm_fault_log_is(store))
        return UVM_STORED_FAULT_LOG;
    if (kinds >> RECORD_TOUCH & 1)
        return UVM_STORED_TOUCHES;
    return kinds >> RECORD_MIGRATE_H2D & 1 ? UVM_STORED_RECORDING : UVM_STORED_OTHER;
}

bool uvm_touching_is(const struct input *input)
{
    return derive_input_is(input, VIEW_UVM) || kinds_of(input->store) >> RECORD_TOUCH & 1;
}

int uvm_touching_program(struct uvm_touching *t, const struct program *program, struct err *err)
{
    memset(t, 0, sizeof *t);
    t->program = *program;
    t->pages = mem_zalloc(1, sizeof *t->pages, err);
    t->ops = &program_pages_ops;
    t->state = t->pages;
    if (t->pages && program_pages_init(t->pages, &t->program, NULL, err) == 0)
        return 0;
    uvm_touching_close(t);
    return -1;
}

/* A stored trace of touches, or what a log of faults shows of them. */
static int open_trace(struct uvm_touching *t, struct store *store, struct err *err)
{
    t->trace = actor_trace_open(store, err);
    t->ops = &actor_trace_ops;
    t->state = t->trace;
    return t->trace ? 0 : -1;
}

/* A recording of accesses, by the pages they touch. */
static int open_accesses(struct uvm_touching *t, const struct input *input, struct err *err)
{
    if (derive_input_open(&t->accesses, input, VIEW_UVM, err))
        return -1;
    t->view = derive_view(&t->accesses.source, VIEW_UVM, err);
    return t->view ? open_trace(t, t->view, err) : -1;
}

int uvm_touching_open(struct uvm_touching *t, const struct input *input, struct err *err)
{
    const struct workload *w = &input->workload;
    struct program program;
    if (w->type && !derive_input_is(input, VIEW_UVM))
        return derive_no_view(w->type, VIEW_UVM, err);
    if (w->type)
        return w->type->program(w->state, &program, err) || uvm_touching_program(t, &program, err) ? -1 : 0;
    memset(t, 0, sizeof *t);
    t->store = input->store;
    bool accesses = uvm_stored(input->store) == UVM_STORED_OTHER && derive_input_is(input, VIEW_UVM);
    if ((accesses ? open_accesses(t, input, err) : open_trace(t, input->store, err)) == 0)
        return 0;
    uvm_touching_close(t);
    return -1;
}

/* Launches that are like none before them. */
static uint32_t own_launches(const struct uvm_touching *t)
{
    uint32_t own = 0;
    for (uint32_t l = 0; l < t->ops->launches(t->state); l++)
        own += !t->ops->like || t->ops->like(t->state, l) == l;
    return own;
}

void uvm_touching_keep(struct uvm_touching *t, size_t runs, int threads)
{
    if (!t->program.ops || runs * t->ops->launches(t->state) == own_launches(t))
        return;
    t->tracks = actor_tracks_open(t->ops, t->state, actor_tracks_room(threads), threads);
    if (!t->tracks)
        return;
    t->ops = &actor_tracks_ops;
    t->state = t->tracks;
}

void uvm_touching_close(struct uvm_touching *t)
{
    actor_tracks_close(t->tracks);
    if (t->trace)
        actor_trace_close(t->trace);
    store_close(t->view);
    free(t->pages);
    memset(t, 0, sizeof *t);
}
