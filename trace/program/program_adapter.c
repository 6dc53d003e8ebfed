#include "trace/program/program_adapter.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

void program_adapter_init(struct program_adapter *a, const struct program *whole, const struct program_ops *ops)
{
    a->whole = *whole;
    a->program = (struct program){.ops = ops, .state = a, .compute_ns = whole->compute_ns};
}

const struct program_alloc *program_adapter_allocs(const void *state, size_t *n)
{
    const struct program_adapter *w = state;
    return w->whole.ops->allocs(w->whole.state, n);
}

uint32_t program_adapter_launches(const void *state)
{
    const struct program_adapter *w = state;
    return w->whole.ops->launches(w->whole.state);
}

void program_adapter_launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct program_adapter *w = state;
    w->whole.ops->launch(w->whole.state, number, out);
}

void *program_adapter_open(const void *state, struct err *err)
{
    struct program_adapter_run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->adapter = state;
    if (program_run_open(&r->adapter->whole, &r->run, err) == 0)
        return r;
    free(r);
    return NULL;
}

void program_adapter_close(void *run)
{
    struct program_adapter_run *r = run;
    if (r)
        program_run_close(&r->adapter->whole, r->run);
    free(r);
}

/* --- what a part does is as the whole one does it --- */

static int same_body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out,
                     struct err *err)
{
    const struct program_adapter_run *r = run;
    return r->adapter->whole.ops->body(r->run, number, warp, index, out, err); /* as it was asked for */
}

static uint32_t same_like(const void *state, uint32_t number)
{
    return program_like(&((const struct program_adapter *)state)->whole, number);
}

/* --- placed --- */

static const struct program_alloc *placed_allocs(const void *state, size_t *n)
{
    const struct program_placed *p = state;
    *n = p->count;
    return p->allocs;
}

void program_placed_init(struct program_placed *p, const struct program *whole, uint64_t on_gpu)
{
    static const struct program_ops ops = {.allocs = placed_allocs,
                                           .launches = program_adapter_launches,
                                           .launch = program_adapter_launch,
                                           .body = same_body,
                                           .run_open = program_adapter_open,
                                           .run_close = program_adapter_close,
                                           .like = same_like};
    const struct program_alloc *own = whole->ops->allocs(whole->state, &p->count);
    program_adapter_init(&p->adapter, whole, &ops);
    memcpy(p->allocs, own, p->count * sizeof *own);
    for (size_t i = 0; i < p->count; i++)
        p->allocs[i].device |= on_gpu >> i & 1;
}

/* --- first --- */

static void first_launch(const void *state, uint32_t number, struct program_launch *out)
{
    program_adapter_launch(state, number, out);
    out->blocks = ((const struct program_first *)state)->blocks[number];
}

void program_first_init(struct program_first *f, const struct program *whole, const uint64_t *blocks)
{
    static const struct program_ops ops = {PROGRAM_ADAPTER_OPS(program_adapter_launches, first_launch, same_body),
                                           .like = same_like};
    program_adapter_init(&f->adapter, whole, &ops);
    f->blocks = blocks;
}

/* --- prefix --- */

/* Turns of the body that begin with fewer than the accesses that are kept before them. */
static uint64_t turns_kept(const struct program_prefix *p, uint64_t before, const struct program_body *body)
{
    if (before >= p->most || !body->count)
        return before >= p->most ? 0 : body->turns;
    const uint64_t turns = (p->most - before + body->count - 1) / body->count;
    return turns < body->turns ? turns : body->turns;
}

/* Body `index` by its own accesses and those that warp 0 has before it. */
static int prefix_body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out,
                       struct err *err)
{
    const struct program_adapter_run *r = run;
    const struct program_prefix *p = (const struct program_prefix *)r->adapter;
    const uint64_t before = index < p->bodies ? p->before[index] : UINT64_MAX;
    if (before >= p->most)
        return 0;
    const int rc = program_body(&p->adapter.whole, r->run, number, warp, index, out, err);
    if (rc == 1)
        out->turns = turns_kept(p, before, out);
    return rc;
}

/* Accesses before each body of warp 0. */
static int measure(struct program_prefix *p, struct program_body *scratch, struct err *err)
{
    void *run;
    int rc;
    if (program_run_open(&p->adapter.whole, &run, err))
        return -1;
    while ((rc = program_body(&p->adapter.whole, run, 0, 0, (uint32_t)p->bodies, scratch, err)) == 1) {
        if ((rc = MEM_ADD(p->before, p->bodies, p->cap, err, p->whole < UINT32_MAX ? (uint32_t)p->whole : UINT32_MAX)))
            break;
        p->accesses += turns_kept(p, p->whole, scratch) * scratch->count;
        p->whole += scratch->count * scratch->turns;
    }
    program_run_close(&p->adapter.whole, run);
    return rc;
}

struct program_prefix *program_prefix_new(const struct program *whole, uint64_t accesses, struct err *err)
{
    static const struct program_ops ops = {
        PROGRAM_ADAPTER_OPS(program_adapter_launches, program_adapter_launch, prefix_body)};
    struct program_prefix *p = mem_zalloc(1, sizeof *p, err);
    struct program_body *scratch = p ? mem_zalloc(1, sizeof *scratch, err) : NULL;
    if (scratch) {
        program_adapter_init(&p->adapter, whole, &ops);
        p->most = accesses;
    }
    if (!scratch || measure(p, scratch, err)) {
        program_prefix_free(p);
        p = NULL;
    }
    free(scratch);
    return p;
}

void program_prefix_free(struct program_prefix *prefix)
{
    if (prefix)
        free(prefix->before);
    free(prefix);
}
