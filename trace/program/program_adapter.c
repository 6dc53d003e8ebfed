#include "trace/program/program_adapter.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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
    r->wrapped = state;
    if (program_run_open(&r->wrapped->whole, &r->run, err) == 0)
        return r;
    free(r);
    return NULL;
}

void program_adapter_close(void *run)
{
    struct program_adapter_run *r = run;
    if (r)
        program_run_close(&r->wrapped->whole, r->run);
    free(r);
}

/* --- placed --- */

struct program_placed {
    struct program_adapter wrapped; /* first */
    struct program_alloc allocs[PROGRAM_ALLOCS];
    size_t count;
};

static const struct program_alloc *placed_allocs(const void *state, size_t *n)
{
    const struct program_placed *p = state;
    *n = p->count;
    return p->allocs;
}

static int placed_body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out,
                       struct err *err)
{
    const struct program_adapter_run *r = run;
    return r->wrapped->whole.ops->body(r->run, number, warp, index, out, err); /* as it was asked for */
}

static uint32_t placed_like(const void *state, uint32_t number)
{
    return program_like(&((const struct program_placed *)state)->wrapped.whole, number);
}

static const struct program_ops placed_ops = {.allocs = placed_allocs,
                                              .launches = program_adapter_launches,
                                              .launch = program_adapter_launch,
                                              .body = placed_body,
                                              .run_open = program_adapter_open,
                                              .run_close = program_adapter_close,
                                              .like = placed_like};

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
    p->wrapped.program = (struct program){.ops = &placed_ops, .state = p, .compute_ns = whole->compute_ns};
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

/* --- prefix --- */

struct program_prefix {
    struct program_adapter wrapped; /* first */
    uint64_t accesses;
    /* Of warp 0 of the first launch; others whose bodies are alike end at the same place, others later or earlier: a
     * body is looked at by itself. */
    uint32_t *before; /* accesses in the bodies before body i, at most UINT32_MAX */
    size_t bodies, cap;
    struct program_prefix_facts facts;
};

/* Body `index` by its own accesses and those that warp 0 has before it. */
static int prefix_body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out,
                       struct err *err)
{
    const struct program_adapter_run *r = run;
    const struct program_prefix *p = (const struct program_prefix *)r->wrapped;
    const uint64_t before = index < p->bodies ? p->before[index] : UINT64_MAX;
    if (before >= p->accesses)
        return 0;
    const int rc = program_body(&p->wrapped.whole, r->run, number, warp, index, out, err);
    if (rc != 1 || !out->count)
        return rc;
    const uint64_t turns = (p->accesses - before + out->count - 1) / out->count;
    out->turns = turns < out->turns ? turns : out->turns;
    return 1;
}

static const struct program_ops prefix_ops = {.allocs = program_adapter_allocs,
                                              .launches = program_adapter_launches,
                                              .launch = program_adapter_launch,
                                              .body = prefix_body,
                                              .run_open = program_adapter_open,
                                              .run_close = program_adapter_close};

/* Accesses before each body of warp 0. */
static int measure(struct program_prefix *p, struct program_body *scratch, struct err *err)
{
    void *run;
    if (program_run_open(&p->wrapped.whole, &run, err))
        return -1;
    int rc;
    uint64_t sum = 0;
    for (uint32_t i = 0; (rc = program_body(&p->wrapped.whole, run, 0, 0, i, scratch, err)) == 1; i++) {
        if (mem_grow((void **)&p->before, &p->cap, i + 1, sizeof *p->before, err)) {
            rc = -1;
            break;
        }
        p->before[i] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
        p->bodies = i + 1;
        const uint64_t turns =
            sum < p->accesses && scratch->count ? (p->accesses - sum + scratch->count - 1) / scratch->count : 0;
        p->facts.accesses += (turns < scratch->turns ? turns : scratch->turns) * scratch->count;
        sum += scratch->count * scratch->turns;
    }
    p->facts.whole = sum;
    program_run_close(&p->wrapped.whole, run);
    return rc < 0 ? -1 : 0;
}

struct program_prefix *program_prefix_new(const struct program *whole, uint64_t accesses, struct err *err)
{
    struct program_prefix *p = mem_zalloc(1, sizeof *p, err);
    struct program_body *scratch = mem_zalloc(1, sizeof *scratch, err);
    if (p && scratch) {
        p->wrapped.whole = *whole;
        p->accesses = accesses;
        p->wrapped.program = (struct program){.ops = &prefix_ops, .state = p, .compute_ns = whole->compute_ns};
        if (measure(p, scratch, err)) {
            program_prefix_free(p);
            p = NULL;
        }
    } else {
        program_prefix_free(p);
        p = NULL;
    }
    free(scratch);
    return p;
}

void program_prefix_free(struct program_prefix *prefix)
{
    if (!prefix)
        return;
    free(prefix->before);
    free(prefix);
}

const struct program *program_prefix_program(const struct program_prefix *prefix)
{
    return &prefix->wrapped.program;
}

struct program_prefix_facts program_prefix_facts(const struct program_prefix *prefix)
{
    return prefix->facts;
}
