#include "trace/workloads/graph/traversal_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/program/loop.h"
#include "trace/workloads/graph/traversal_lists.h"
#include "trace/workloads/graph/traversal_run.h"

enum { LANES = PROGRAM_LANES, LINE = 128, UNROLL = 4, MOST_ALLOCS = 10, NONE = 255 };

/* Instructions of the source between accesses. */
enum { START = 6, BRANCH = 2, ADDRESS = 2, COMPARE = 2, LOOP_END = 3 };

struct traversal_program {
    const struct traversal *t;
    const struct traversal_kernel *kernel;
    char name[32];
    struct program_alloc allocs[MOST_ALLOCS];
    unsigned alloc_count;
    uint8_t edges, weights, offsets, values, own, flags[2], changed; /* places in allocs[]; NONE: no such array */
    uint64_t base_offset;                                            /* of element 0 in its allocation */
    uint32_t element;                                                /* bytes */
    struct traversal_shape shape;
    bool visits;
    uint64_t starts[];
};

/* The warp asked for last is mostly asked for again. */
struct run {
    const struct traversal_program *p;
    struct traversal_run at;
    bool known; /* what follows is of warp `warp` of the launch that `at` stands at */
    uint64_t warp;
    struct traversal_lists lists;
    uint32_t part;   /* of a sweep: */
    uint64_t part_j; /* the load that it begins with */
};

/* --- memory --- */

static uint8_t add_alloc(struct traversal_program *p, const char *name, uint64_t bytes, bool host)
{
    struct program_alloc *a = &p->allocs[p->alloc_count];
    *a = (struct program_alloc){.bytes = bytes, .host = host, .device = true};
    (void)snprintf(a->name, sizeof a->name, "%s", name);
    return (uint8_t)p->alloc_count++;
}

/* The structures that are scanned lie where the scans say. */
static uint8_t add_structure(struct traversal_program *p, const struct scan_structure *s, uint64_t offset)
{
    uint8_t at = add_alloc(p, s->name, offset + s->elements * s->element, true);
    p->allocs[at].addr = s->base - offset;
    p->allocs[at].device = false;
    p->allocs[at].advice =
        ACTOR_READ_MOSTLY; /* EMOGI 382dbcc, bfs.cu and its like (UVM_READONLY); fixtures/cuda/bfs.cu */
    return at;
}

static void lay_out(struct traversal_program *p, const struct scan_setup *s)
{
    const struct traversal_kernel *k = p->kernel;
    uint64_t vertices = p->t->graph.vertices;
    p->weights = p->own = p->flags[0] = p->flags[1] = p->values = p->changed = NONE;
    p->base_offset = (uint64_t)p->t->params->base_offset;
    p->edges = add_structure(p, &s->structures[0], p->base_offset);
    if (s->structure_count > 1)
        p->weights = add_structure(p, &s->structures[1], 0);
    unsigned device = p->alloc_count;
    p->offsets = add_alloc(p, "offsets", (vertices + 1) * 8, true);
    if (p->visits) {
        p->values = p->own = add_alloc(p, k->values, vertices * k->value_bytes, k->values_written);
        if (k->own && strcmp(k->own, k->values) != 0)
            p->own = add_alloc(p, k->own, vertices * k->value_bytes, false);
        if (k->flags)
            p->flags[0] = p->flags[1] = add_alloc(p, "active", vertices, false);
        if (k->raises)
            p->flags[1] = add_alloc(p, "next", vertices, false);
        if (k->tells)
            p->changed = add_alloc(p, "changed", 4, true);
    }
    program_place(p->allocs + device, p->alloc_count - device, 0, 0);
}

/* --- accesses --- */

/* The next instruction needs all that was loaded. */
static void need(struct program_body *b)
{
    uint16_t behind = 1;
    for (uint32_t i = b->count; i-- > 0; behind += (uint16_t)(1 + b->access[i].before))
        if (b->access[i].kind == RECORD_READ && b->access[i].use == 0)
            b->access[i].use = behind;
}

/* Read element v of an array, v being each lane's own vertex. */
static struct program_access *of_vertex(const struct traversal_program *p, struct program_body *b, unsigned alloc,
                                        const struct traversal_lists *l, uint32_t bytes, uint64_t further)
{
    struct program_access *a = program_load(b, p->allocs, alloc, (l->vertex + further) * bytes, bytes);
    a->lane_stride = l->each ? bytes : 0;
    a->active = l->active;
    a->use = 0;
    return a;
}

/* Read elements of the list, or what lies at the same indices. */
static void elements(const struct traversal_program *p, struct program_body *b, unsigned alloc, uint64_t base,
                     uint32_t bytes, const struct traversal_lists *l, const struct traversal_load *load)
{
    struct program_access *a = program_load(b, p->allocs, alloc, base, bytes);
    uint64_t start = a->addr;
    a->active = load->reads;
    a->use = 0;
    if (!l->each) {
        a->addr += load->at[0] * bytes;
        return;
    }
    uint64_t *lane = program_scatter(b, a);
    for (uint32_t rest = load->reads; rest; rest &= rest - 1) { /* few, in the long lists of a warp */
        unsigned i = (unsigned)__builtin_ctz(rest);
        lane[i] = start + load->at[i] * bytes;
    }
}

/* Whether the vertex is active, and where its list lies. */
static void head(const struct run *r, const struct traversal_lists *l, struct program_body *b)
{
    const struct traversal_program *p = r->p;
    const struct traversal_kernel *k = p->kernel;
    if (p->visits) {
        bool label = p->flags[0] == NONE;
        struct program_access *a =
            of_vertex(p, b, label ? p->values : p->flags[r->at.launch % 2], l, label ? k->value_bytes : 1, 0);
        a->active = l->lanes;
        a->before = START;
        need(b);
        b->after = BRANCH;
    }
    if (!l->active)
        return;
    of_vertex(p, b, p->offsets, l, 8, 0)->before = p->visits ? BRANCH + ADDRESS : START;
    of_vertex(p, b, p->offsets, l, 8, 1);
    if (p->visits && k->own_first)
        of_vertex(p, b, p->own, l, k->value_bytes, 0)->before = ADDRESS;
    need(b);
    b->after = COMPARE;
}

/* Addresses of the access, one for each of the lanes: the value of its vertex. */
static const uint64_t *values_of(const struct traversal_program *p, struct program_body *b, struct program_access *a,
                                 uint32_t lanes, const uint64_t *vertex)
{
    uint64_t *lane = program_scatter(b, a), first = p->allocs[p->values].addr, bytes = p->kernel->value_bytes;
    for (; lanes; lanes &= lanes - 1) {
        unsigned i = (unsigned)__builtin_ctz(lanes);
        lane[i] = first + vertex[i] * bytes;
    }
    return lane;
}

/* What a visit changes: the value of `mask` lanes' targets, and who is told. value: their addresses, if known. */
static void change(const struct run *r, struct program_body *b, uint32_t mask, const uint64_t *value,
                   const uint64_t *vertex)
{
    const struct traversal_program *p = r->p;
    const struct traversal_kernel *k = p->kernel;
    struct program_access *a = program_store(b, p->allocs, p->values, 0, k->value_bytes);
    a->kind = k->atomic ? RECORD_ATOMIC : RECORD_WRITE;
    a->active = mask;
    a->lane_stride = 0;
    a->lane = value ? value : values_of(p, b, a, mask, vertex);
    a->before = COMPARE;
    if (k->raises) {
        unsigned next = p->flags[(r->at.launch + 1) % 2];
        a = program_store(b, p->allocs, next, 0, 1);
        a->active = mask;
        a->before = ADDRESS;
        uint64_t *lane = program_scatter(b, a), first = p->allocs[next].addr;
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            lane[i] = first + vertex[i];
        }
    }
    if (k->tells) {
        a = program_store(b, p->allocs, p->changed, 0, 4);
        a->active = mask;
        a->lane_stride = 0;
    }
}

/* Which lanes' visits change a value; targets that are not the neighbours are put right. */
static uint32_t changing(const struct run *r, const struct traversal_lists *l, const struct traversal_load *load,
                         uint64_t *vertex)
{
    uint32_t mask = 0;
    if (r->p->kernel->always)
        return load->list;
    for (uint32_t rest = load->list; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (!traversal_run_changes(&r->at, load->at[lane]))
            continue;
        mask |= 1u << lane;
        if (traversal_run_changes_own(&r->at, load->at[lane]))
            vertex[lane] = l->vertex + (l->each ? lane : 0);
    }
    return mask;
}

/* Load j, and the visits of its elements. */
static void visit(const struct run *r, const struct traversal_lists *l, uint64_t j, struct program_body *b)
{
    const struct traversal_program *p = r->p;
    const struct traversal_kernel *k = p->kernel;
    uint64_t vertex[LANES]; /* of lanes that load */
    const uint64_t *values = NULL;
    struct traversal_load load;
    traversal_load(l, j, &load);
    if (k->own)
        of_vertex(p, b, p->own, l, k->value_bytes, 0)->active = load.reads;
    elements(p, b, p->edges, p->base_offset, p->element, l, &load);
    need(b);
    for (uint32_t rest = b->brief ? 0 : load.reads; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        vertex[lane] = graph_target(&r->at.t.graph, load.at[lane]);
    }
    if (k->reads) {
        struct program_access *a = program_load(b, p->allocs, p->values, 0, k->value_bytes);
        a->active = load.reads;
        a->before = ADDRESS;
        a->use = 0;
        a->lane_stride = 0;
        if (!b->brief)
            values = values_of(p, b, a, load.reads, vertex);
    }
    if (p->weights != NONE)
        elements(p, b, p->weights, 0, 4, l, &load);
    need(b);
    uint32_t mask = b->brief ? 0 : changing(r, l, &load, vertex);
    if (mask)
        change(r, b, mask, r->at.t.own ? NULL : values, vertex);
    b->after = LOOP_END;
}

/* --- sweeps: loads of the loop in fours --- */

static int sweep(struct run *r, const struct traversal_lists *l, uint32_t index, struct program_body *b)
{
    const struct traversal_program *p = r->p;
    struct traversal_load load;
    bool on = r->part <= index;
    uint64_t j = on ? r->part_j : 0, turns = 0;
    for (uint32_t i = on ? r->part : 0; i <= index; i++) {
        j += turns * UNROLL;
        r->part = i;
        r->part_j = j;
        if (j >= l->loads)
            return 0;
        traversal_load(l, j, &load);
        turns = (traversal_same_until(l, &load, j) - j) / UNROLL;
        turns += turns == 0;
    }
    for (uint64_t k = j; k < j + UNROLL && k < l->loads; k++) {
        traversal_load(l, k, &load);
        elements(p, b, p->edges, p->base_offset, p->element, l, &load);
        b->access[b->count - 1].turn_stride = (int64_t)p->element * UNROLL * (l->each ? 1 : LANES);
    }
    need(b);
    b->turns = turns;
    b->after = UNROLL + LOOP_END;
    return 1;
}

/* --- the program --- */

/* What the first visits of a warp will look at; the lists of a graph do not stay in the cache. */
static void look_ahead(const struct run *r)
{
    const struct traversal_lists *l = &r->lists;
    const struct graph *g = &r->at.t.graph;
    for (uint32_t rest = l->active; rest && l->loads; rest = l->each ? rest & (rest - 1) : 0) {
        uint64_t first = l->first[l->each ? (unsigned)__builtin_ctz(rest) : 0];
        const char *target = g->targets ? (const char *)&g->targets[first] : (const char *)&g->wide[first];
        __builtin_prefetch(target);
        __builtin_prefetch(target + 64);
        if (r->at.t.changes)
            __builtin_prefetch(&r->at.t.changes[first / 64]);
    }
}

/* The lists of a warp into r->lists: 1; 0: it has no vertex; -1. soon: its first visits follow. */
static int go_to(struct run *r, uint32_t launch, uint64_t warp, bool soon, struct err *err)
{
    bool there = r->at.running && r->at.launch == launch;
    if (there && r->known && r->warp == warp)
        return 1;
    if (!there && traversal_run_seek(&r->at, launch, err))
        return -1;
    r->warp = warp;
    r->part = 0;
    r->part_j = 0;
    r->known = traversal_lists(&r->at.t, &r->p->shape, warp, &r->lists);
    if (r->known && r->p->visits && soon)
        look_ahead(r);
    return r->known;
}

static int body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b, struct err *err)
{
    struct run *r = run;
    const struct traversal_lists *l = &r->lists;
    int rc = go_to(r, launch, warp, index < 2 && !b->brief, err);
    if (rc <= 0)
        return rc < 0 ? -1 : program_no_trip(index, START, b);
    b->last = r->p->visits && index == (l->active ? l->loads + r->p->kernel->clears : 0);
    if (index == 0) {
        head(r, l, b);
        return 1;
    }
    if (!r->p->visits)
        return sweep(r, l, index - 1, b);
    if (index <= l->loads) {
        visit(r, l, index - 1, b);
        return 1;
    }
    if (index > l->loads + 1 || !l->active || !r->p->kernel->clears)
        return 0;
    struct program_access *a = of_vertex(r->p, b, r->p->flags[0], l, 1, 0);
    a->kind = RECORD_WRITE;
    return 1;
}

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    const struct traversal_program *p = state;
    *n = p->alloc_count;
    return p->allocs;
}

static uint32_t launches(const void *state)
{
    const struct traversal_program *p = state;
    return (uint32_t)p->starts[p->t->root_count];
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct traversal_program *p = state;
    (void)number;
    uint64_t threads = (uint64_t)p->t->params->threads_per_block, each = p->shape.each ? 1 : LANES;
    *out = (struct program_launch){.kernel = p->name,
                                   .blocks = (p->t->graph.vertices * each + threads - 1) / threads,
                                   .threads = (uint32_t)threads};
}

static void *run_open(const void *state, struct err *err)
{
    const struct traversal_program *p = state;
    struct run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->p = p;
    if (traversal_run_open(&r->at, p->t, p->starts, p->visits, err) == 0)
        return r;
    traversal_run_close(&r->at);
    free(r);
    return NULL;
}

static void run_close(void *run)
{
    struct run *r = run;
    traversal_run_close(&r->at);
    free(r);
}

static const struct program_ops ops = {.allocs = allocs,
                                       .launches = launches,
                                       .launch = launch,
                                       .body = body,
                                       .run_open = run_open,
                                       .run_close = run_close};

static const char *const ways[TRAVERSAL_WAYS] = {"naive", "merged", "aligned"};

static struct traversal_program *make(struct traversal *t, enum traversal_way way, struct err *err)
{
    struct scan_setup s;
    traversal_ops.setup(t, &s);
    if (s.threads_per_block % LANES) {
        (void)err_set(err, "threads_per_block is %lld; the program's kernels need a multiple of %d",
                      (long long)s.threads_per_block, LANES);
        return NULL;
    }
    struct traversal_program *p = mem_zalloc(1, sizeof *p + (size_t)(t->root_count + 1) * sizeof *p->starts, err);
    if (!p)
        return NULL;
    p->t = t;
    p->kernel = &t->algorithm->kernel;
    p->visits = s.visits;
    p->element = s.structures[0].element;
    p->shape = (struct traversal_shape){.each = way == TRAVERSAL_NAIVE,
                                        .round = way == TRAVERSAL_ALIGNED ? LINE / p->element : 1,
                                        .unmasked_head = s.unmasked_head};
    (void)snprintf(p->name, sizeof p->name, "%s_%s", s.visits ? p->kernel->name : "sweep", ways[way]);
    lay_out(p, &s);
    if (traversal_run_starts(t, p->starts, err) == 0)
        return p;
    free(p);
    return NULL;
}

static int program_of(struct traversal *t, enum traversal_way way, struct program *program, struct err *err)
{
    if (!t->programs[way] && !(t->programs[way] = make(t, way, err)))
        return -1;
    *program = (struct program){.ops = &ops, .state = t->programs[way], .compute_ns = t->params->compute_ns};
    return 0;
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

void traversal_program_free(struct traversal_program *program)
{
    free(program);
}
