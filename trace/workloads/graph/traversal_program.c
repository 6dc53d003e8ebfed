#include "trace/workloads/graph/traversal_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"

enum { LANES = PROGRAM_LANES, LINE = 128, NONE = TRAVERSAL_NONE };

/* --- memory --- */

/* The next array, of n elements in GPU memory. */
static uint8_t add(struct traversal_program *p, const char *name, uint64_t n, uint32_t bytes, bool host)
{
    unsigned at = p->layout.arrays;
    struct program_alloc *a = layout_array(&p->layout, name, n * bytes);
    a->host = host;
    a->device = true;
    p->bytes[at] = (uint8_t)bytes;
    return (uint8_t)at;
}

/* The structures that are scanned lie where the scans say, behind so many elements. */
static uint8_t add_structure(struct traversal_program *p, const struct scan_structure *s, uint64_t behind)
{
    uint8_t at = add(p, s->name, behind + s->elements, s->element, true);
    p->layout.array[at].addr = s->base - behind * s->element;
    p->layout.array[at].device = false;
    p->layout.array[at].advice =
        ACTOR_READ_MOSTLY; /* EMOGI 382dbcc, bfs.cu and its like (UVM_READONLY); fixtures/cuda/bfs.cu */
    return at;
}

static void lay_out(struct traversal_program *p, const struct scan_setup *s)
{
    const struct traversal_kernel *k = p->kernel;
    uint64_t vertices = p->t->graph.vertices;
    p->weights = p->own = p->flags[0] = p->flags[1] = p->values = p->changed = NONE;
    p->first_edge = p->t->params->base_offset / s->structures[0].element;
    p->edges = add_structure(p, &s->structures[0], (uint64_t)p->first_edge);
    if (s->structure_count > 1)
        p->weights = add_structure(p, &s->structures[1], 0);
    unsigned device = p->layout.arrays;
    p->offsets = add(p, "offsets", vertices + 1, 8, true);
    if (p->visits) {
        p->values = p->own = add(p, k->values, vertices, k->value_bytes, k->values_written);
        if (k->own && strcmp(k->own, k->values) != 0)
            p->own = add(p, k->own, vertices, k->value_bytes, false);
        if (k->flags)
            p->flags[0] = p->flags[1] = add(p, "active", vertices, 1, false);
        if (k->raises)
            p->flags[1] = add(p, "next", vertices, 1, false);
        if (k->tells)
            p->changed = add(p, "changed", 1, 4, true);
    }
    program_place(p->layout.array + device, p->layout.arrays - device, 0, 0);
}

/* --- runs --- */

static void run_close(void *run)
{
    struct traversal_warps *r = run;
    traversal_run_close(&r->at);
    free(r);
}

static void *run_open(const void *state, struct err *err)
{
    const struct traversal_program *p = state;
    struct traversal_warps *r = mem_zalloc(1, sizeof *r, err);
    if (!r || traversal_run_open(&r->at, p->t, p->t->launches, p->visits, err) == 0)
        return r;
    run_close(r);
    return NULL;
}

/* What the first visits of a warp will look at; the lists of a graph do not stay in the cache. */
static void look_ahead(const struct traversal_run *at, const struct traversal_lists *l)
{
    const struct graph *g = &at->t.graph;
    for (uint32_t rest = l->active; rest && l->loads; rest = l->each ? rest & (rest - 1) : 0) {
        uint64_t first = l->first[l->each ? (unsigned)__builtin_ctz(rest) : 0];
        const char *target = g->targets ? (const char *)&g->targets[first] : (const char *)&g->wide[first];
        __builtin_prefetch(target);
        __builtin_prefetch(target + 64);
        if (at->t.changes)
            __builtin_prefetch(&at->t.changes[first / 64]);
    }
}

int traversal_warps_go(struct traversal_warps *r, const struct emit *e)
{
    const struct traversal_program *p = e->state;
    uint64_t warp = e->at.thread / LANES;
    if (!(r->at.running && r->at.launch == e->launch) && traversal_run_seek(&r->at, e->launch, e->err))
        return -1;
    r->warp = warp;
    r->part = 0;
    r->part_j = 0;
    r->known = traversal_lists(&r->at.t, &p->shape, warp, &r->lists);
    if (r->known && p->visits && e->index < 2 && !e->body->brief)
        look_ahead(&r->at, &r->lists);
    return r->known;
}

/* --- the program --- */

static const char *const ways[TRAVERSAL_WAYS] = {"naive", "merged", "aligned"};

/* The launches, kept where they take no more memory than the graph's targets. */
static int find_launches(struct traversal *t, bool visits, struct err *err)
{
    t->launches = mem_zalloc(1, sizeof *t->launches, err);
    if (!t->launches)
        return -1;
    if (traversal_launches_open(t->launches, t, visits, t->graph.elements * sizeof(uint32_t), err) == 0)
        return 0;
    traversal_launches_close(t->launches);
    free(t->launches);
    t->launches = NULL;
    return -1;
}

static struct traversal_program *make(struct traversal *t, enum traversal_way way, struct err *err)
{
    struct scan_setup s;
    traversal_ops.setup(t, &s);
    if (s.threads_per_block % LANES) {
        (void)err_set(err, "threads_per_block is %lld; the program's kernels need a multiple of %d",
                      (long long)s.threads_per_block, LANES);
        return NULL;
    }
    if (!t->launches && find_launches(t, s.visits, err))
        return NULL;
    struct traversal_program *p = mem_zalloc(1, sizeof *p, err);
    if (!p)
        return NULL;
    layout_init(&p->layout, t->params->compute_ns);
    uint32_t element = s.structures[0].element, threads = (uint32_t)s.threads_per_block;
    p->t = t;
    p->kernel = &t->algorithm->kernel;
    p->visits = s.visits;
    p->shape = (struct traversal_shape){.each = way == TRAVERSAL_NAIVE,
                                        .round = way == TRAVERSAL_ALIGNED ? LINE / element : 1,
                                        .unmasked_head = s.unmasked_head};
    (void)snprintf(p->name, sizeof p->name, "%s_%s", s.visits ? p->kernel->name : "sweep", ways[way]);
    lay_out(p, &s);
    layout_kernel(&p->layout, traversal_warp, p->name,
                  layout_blocks(t->graph.vertices * (p->shape.each ? 1 : LANES), threads), threads, 0, 0);
    p->layout.run_open = run_open;
    p->layout.run_close = run_close;
    p->layout.launches = (uint32_t)t->launches->starts[t->root_count];
    return p;
}

static int program_of(struct traversal *t, enum traversal_way way, struct program *program, struct err *err)
{
    if (!t->programs[way] && !(t->programs[way] = make(t, way, err)))
        return -1;
    return layout_program(t->programs[way], program, err);
}

int traversal_program(void *state, struct program *program, struct err *err)
{
    struct traversal *t = state;
    return program_of(t, (enum traversal_way)t->params->kernel, program, err);
}

int traversal_program_as(void *state, const char *kernel, struct program *program, struct err *err)
{
    for (int i = 0; i < TRAVERSAL_WAYS; i++)
        if (strcmp(ways[i], kernel) == 0)
            return program_of(state, (enum traversal_way)i, program, err) ? -1 : 1;
    return 0;
}

void traversal_program_free(struct traversal *t)
{
    for (int i = 0; i < TRAVERSAL_WAYS; i++)
        free(t->programs[i]);
    if (t->launches)
        traversal_launches_close(t->launches);
    free(t->launches);
}
