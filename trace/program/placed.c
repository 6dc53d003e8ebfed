#include "trace/program/placed.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/wrapped.h"

struct program_placed {
    struct program_wrapped wrapped; /* first */
    struct program_alloc allocs[PROGRAM_ALLOCS];
    size_t count;
};

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    const struct program_placed *p = state;
    *n = p->count;
    return p->allocs;
}

static int body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out, struct err *err)
{
    const struct program_wrapped_run *r = run;
    return r->wrapped->whole.ops->body(r->run, number, warp, index, out, err); /* as it was asked for */
}

static uint32_t like(const void *state, uint32_t number)
{
    return program_like(&((const struct program_placed *)state)->wrapped.whole, number);
}

static const struct program_ops ops = {.allocs = allocs,
                                       .launches = program_wrapped_launches,
                                       .launch = program_wrapped_launch,
                                       .body = body,
                                       .run_open = program_wrapped_open,
                                       .run_close = program_wrapped_close,
                                       .like = like};

struct program_placed *program_placed_new(const struct program *whole, uint64_t on_gpu, struct err *err)
{
    struct program_placed *p = mem_zalloc(1, sizeof *p, err);
    if (!p)
        return NULL;
    const struct program_alloc *own = whole->ops->allocs(whole->state, &p->count);
    memcpy(p->allocs, own, p->count * sizeof *own);
    for (size_t i = 0; i < p->count; i++)
        p->allocs[i].device |= on_gpu >> i & 1;
    p->wrapped.whole = *whole;
    p->wrapped.program = (struct program){.ops = &ops, .state = p, .compute_ns = whole->compute_ns};
    return p;
}

void program_placed_free(struct program_placed *placed)
{
    free(placed);
}

const struct program *program_placed_program(const struct program_placed *placed)
{
    return &placed->wrapped.program;
}
