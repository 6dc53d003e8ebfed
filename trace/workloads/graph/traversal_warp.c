#include "trace/workloads/graph/traversal_program.h"

enum { LANES = PROGRAM_LANES, NONE = TRAVERSAL_NONE, UNROLL = TRAVERSAL_UNROLL };

/* --- lists --- */

static void one_list(const struct traversal *t, uint64_t round, struct traversal_lists *l)
{
    bool active = frontier_has(&t->active, l->vertex);
    l->lanes = UINT32_MAX;
    l->active = active ? UINT32_MAX : 0;
    if (!active)
        return; /* nobody asks where its list is; most are none of the launch's */
    l->first[0] = t->graph.offsets[l->vertex];
    l->end[0] = t->graph.offsets[l->vertex + 1];
    l->from = l->first[0] - l->first[0] % round;
    if (l->end[0] > l->first[0])
        l->loads = (l->end[0] - l->from + LANES - 1) / LANES;
}

static void list_for_each(const struct traversal *t, struct traversal_lists *l)
{
    const uint64_t *offsets = t->graph.offsets + l->vertex;
    l->lanes = program_first_lanes(t->graph.vertices - l->vertex);
    l->active = (uint32_t)(t->active.bits[l->vertex / 64] >> (l->vertex % 64)) & l->lanes;
    for (uint32_t rest = l->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        l->first[lane] = offsets[lane];
        l->end[lane] = offsets[lane + 1];
        if (l->end[lane] - l->first[lane] > l->loads)
            l->loads = l->end[lane] - l->first[lane];
    }
}

bool traversal_lists(const struct traversal *t, const struct traversal_shape *shape, uint64_t warp,
                     struct traversal_lists *l)
{
    l->each = shape->each;
    l->unmasked_head = shape->unmasked_head;
    l->vertex = l->each ? warp * LANES : warp;
    l->loads = 0;
    if (l->vertex >= t->graph.vertices)
        return false;
    if (l->each)
        list_for_each(t, l);
    else
        one_list(t, shape->round, l);
    return true;
}

void traversal_load(const struct traversal_lists *l, uint64_t j, struct traversal_load *load)
{
    if (!l->each) {
        uint64_t at = l->from + j * LANES, below = l->first[0] > at ? l->first[0] - at : 0;
        load->reads = program_first_lanes(l->end[0] - at);
        load->list = load->reads & ~program_first_lanes(below);
        if (!l->unmasked_head)
            load->reads = load->list;
        for (unsigned lane = 0; lane < LANES; lane++)
            load->at[lane] = (int64_t)(at + lane);
        return;
    }
    load->reads = 0;
    for (uint32_t rest = l->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t at = l->first[lane] + j;
        load->at[lane] = (int64_t)at;
        load->reads |= (uint32_t)(at < l->end[lane]) << lane;
    }
    load->list = load->reads;
}

uint64_t traversal_same_until(const struct traversal_lists *l, const struct traversal_load *load, uint64_t j)
{
    if (!l->each)
        return load->list == UINT32_MAX ? (l->end[0] - l->from) / LANES : j + 1;
    uint64_t until = l->loads;
    for (uint32_t rest = load->list; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (l->end[lane] - l->first[lane] < until)
            until = l->end[lane] - l->first[lane];
    }
    return until;
}

/* --- bodies --- */

/* Instructions of the source between accesses. */
enum { START = 6, BRANCH = 2, ADDRESS = 2, COMPARE = 2, LOOP_END = 3 };

/* --- accesses; need() says when their values are used --- */

/* The next instruction needs all that was loaded. */
static void need(const struct emit *e)
{
    uint16_t behind = 1;
    for (uint32_t i = e->body->count; i-- > 0; behind += (uint16_t)(1 + e->body->access[i].before))
        if (e->body->access[i].kind == RECORD_READ && e->body->access[i].use == 0)
            e->body->access[i].use = behind;
}

static inline struct emit of_array(const struct emit *e, unsigned array, uint32_t active)
{
    struct emit of = emit_of(e, ((const struct traversal_program *)e->state)->bytes[array]);
    of.active = active;
    return of;
}

/* Read element v of an array, or the one so much further, v being each lane's own vertex. */
static struct program_access *of_vertex(const struct emit *e, unsigned array, const struct traversal_lists *l,
                                        unsigned further, unsigned before)
{
    struct emit of = of_array(e, array, l->active);
    struct program_access *a = emit_load(&of, array, (int64_t)l->vertex + further, before, 0);
    return l->each ? a : emit_same(a);
}

/* Read elements of the list, or what lies at the same indices. */
static struct program_access *elements(const struct emit *e, unsigned array, const struct traversal_lists *l,
                                       const struct traversal_load *load)
{
    const struct traversal_program *p = e->state;
    struct emit of = of_array(e, array, load->reads);
    int64_t first = array == p->edges ? p->first_edge : 0;
    return l->each ? emit_each(&of, array, first, load->at, 0, 0) : emit_load(&of, array, first + load->at[0], 0, 0);
}

/* Whether the vertex is active, and where its list lies. */
static int head(const struct emit *e, const struct traversal_lists *l)
{
    const struct traversal_program *p = e->state;
    if (p->visits) {
        unsigned asked = p->flags[0] == NONE ? p->values : p->flags[e->launch % 2];
        struct program_access *a = of_vertex(e, asked, l, 0, START);
        a->active = l->lanes;
        a->use = 1;
    }
    if (!l->active)
        return emit_end(e, BRANCH);
    of_vertex(e, p->offsets, l, 0, p->visits ? BRANCH + ADDRESS : START);
    of_vertex(e, p->offsets, l, 1, 0);
    if (p->visits && p->kernel->own_first)
        of_vertex(e, p->own, l, 0, ADDRESS);
    need(e);
    return emit_end(e, COMPARE);
}

/* What a visit changes: the value of `mask` lanes' vertices, and who is told. read: of the same values, if there was
 * such an access. */
static void change(const struct emit *e, uint32_t mask, const struct program_access *read, const int64_t *vertex)
{
    const struct traversal_program *p = e->state;
    const struct traversal_kernel *k = p->kernel;
    unsigned kind = k->atomic ? RECORD_ATOMIC : RECORD_WRITE, next = p->flags[(e->launch + 1) % 2];
    struct emit values = of_array(e, p->values, mask);
    if (read)
        emit_again(e, read, kind, COMPARE)->active = mask;
    else
        emit_as(emit_each(&values, p->values, 0, vertex, COMPARE, 0), kind);
    if (k->raises) {
        struct emit flags = of_array(e, next, mask);
        emit_as(emit_each(&flags, next, 0, vertex, ADDRESS, 0), RECORD_WRITE);
    }
    if (k->tells) {
        struct emit changed = of_array(e, p->changed, mask);
        emit_same(emit_store(&changed, p->changed, 0, 0));
    }
}

/* Which lanes' visits change a value; targets that are not the neighbours are put right. */
static uint32_t changing(const struct traversal_run *at, const struct traversal_lists *l,
                         const struct traversal_load *load, int64_t *vertex)
{
    uint32_t mask = 0;
    if (at->t.algorithm->kernel.always)
        return load->list;
    for (uint32_t rest = load->list; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (!traversal_run_changes(at, (uint64_t)load->at[lane]))
            continue;
        mask |= 1u << lane;
        if (traversal_run_changes_own(at, (uint64_t)load->at[lane]))
            vertex[lane] = (int64_t)l->vertex + (l->each ? lane : 0);
    }
    return mask;
}

/* The values of the neighbours. */
static const struct program_access *read_values(const struct emit *e, uint32_t lanes, const int64_t *vertex)
{
    unsigned values = ((const struct traversal_program *)e->state)->values;
    struct emit of = of_array(e, values, lanes);
    if (e->body->brief)
        return emit_same(emit_load(&of, values, 0, ADDRESS, 0));
    return emit_each(&of, values, 0, vertex, ADDRESS, 0);
}

/* Load j, and the visits of its elements. */
static int visit(const struct emit *e, const struct traversal_run *at, const struct traversal_lists *l, uint64_t j)
{
    const struct traversal_program *p = e->state;
    int64_t vertex[LANES]; /* of lanes that load */
    const struct program_access *read = NULL;
    struct traversal_load load;
    bool brief = e->body->brief;
    traversal_load(l, j, &load);
    if (p->kernel->own)
        of_vertex(e, p->own, l, 0, 0)->active = load.reads;
    elements(e, p->edges, l, &load);
    need(e);
    for (uint32_t rest = brief ? 0 : load.reads; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        vertex[lane] = (int64_t)graph_target(&at->t.graph, (uint64_t)load.at[lane]);
    }
    if (p->kernel->reads)
        read = read_values(e, load.reads, vertex);
    if (p->weights != NONE)
        elements(e, p->weights, l, &load);
    need(e);
    uint32_t mask = brief ? 0 : changing(at, l, &load, vertex);
    if (mask)
        change(e, mask, at->t.own ? NULL : read, vertex);
    return emit_end(e, LOOP_END);
}

/* --- sweeps: loads of the loop in fours --- */

static int sweep(const struct emit *e, struct traversal_warps *r, uint32_t index)
{
    const struct traversal_lists *l = &r->lists;
    unsigned edges = ((const struct traversal_program *)e->state)->edges;
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
        elements(e, edges, l, &load);
    }
    need(e);
    emit_turns(e, turns, UNROLL * (l->each ? 1 : LANES));
    return emit_end(e, UNROLL + LOOP_END);
}

/* --- the kernel --- */

static bool there(const struct traversal_warps *r, const struct emit *e)
{
    return r->known && r->warp == e->at.thread / LANES && r->at.running && r->at.launch == e->launch;
}

int traversal_warp(struct emit *e)
{
    const struct traversal_program *p = e->state;
    struct traversal_warps *r = e->run;
    const struct traversal_lists *l = &r->lists;
    int rc = there(r, e) ? 1 : traversal_warps_go(r, e);
    if (rc <= 0)
        return rc < 0 ? -1 : emit_idle(e, START);
    e->body->last = p->visits && e->index == (l->active ? l->loads + p->kernel->clears : 0);
    if (e->index == 0)
        return head(e, l);
    if (!p->visits)
        return sweep(e, r, e->index - 1);
    if (e->index <= l->loads)
        return visit(e, &r->at, l, e->index - 1);
    if (e->index > l->loads + 1 || !l->active || !p->kernel->clears)
        return 0;
    emit_as(of_vertex(e, p->flags[0], l, 0, 0), RECORD_WRITE);
    return 1;
}
