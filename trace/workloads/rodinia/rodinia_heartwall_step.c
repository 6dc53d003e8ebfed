/* One step of a warp of rodinia-heartwall, as its phase has it. */
#include "trace/workloads/rodinia/rodinia_heartwall.h"

enum { TENTH = 10, MAPPED = 20, LINEAR = 4, TRIP = 3 };

/* Elements of an array that every block has. */
static uint64_t own_elements(const struct heartwall_shape *s, unsigned role)
{
    uint64_t t = (uint64_t)s->template, a = (uint64_t)s->area, c = t + a - 1, P = a + 2 * t;
    switch (role) {
    case HW_AREA:
    case HW_AREA_SQUARED:
        return a * a;
    case HW_PAD:
        return P * P;
    case HW_PAD_SELECTED:
    case HW_SUM:
        return c * P;
    case HW_TEMPLATE_SQUARED:
        return t * t;
    default:
        return c * c;
    }
}

uint64_t heartwall_own_bytes(const struct heartwall *h, unsigned role)
{
    return (own_elements(&h->shape, role) * 4 + RODINIA_ALIGN - 1) / RODINIA_ALIGN * RODINIA_ALIGN;
}

struct at {
    const struct heartwall *h;
    const struct heartwall_phase *phase;
    const struct heartwall_step *step;
    struct emit e;
    int64_t block, warp, frame;
};

/* The allocation of a role for the block, and its first element. */
static unsigned array_of(const struct at *at, unsigned role, int64_t *first)
{
    bool in = at->block < at->h->inner;
    int64_t point = in ? at->block : at->block - at->h->inner;
    *first = 0;
    if (role == HW_FRAME)
        return HEARTWALL_FRAME;
    if (role <= HW_COLUMN_TO) {
        *first = role >= HW_ROW_TO ? point * at->h->p.video : point;
        return (in ? HEARTWALL_INNER_ROW : HEARTWALL_OUTER_ROW) + role - HW_ROW;
    }
    if (role == HW_TEMPLATE) {
        *first = point * at->h->p.template * at->h->p.template;
        return in ? HEARTWALL_INNER_T : HEARTWALL_OUTER_T;
    }
    *first = at->block * (int64_t)(heartwall_own_bytes(at->h, role) / 4);
    return HEARTWALL_OWN + role - HW_AREA;
}

/* One element for all lanes, a load or a store. */
static void point(const struct at *at, unsigned role, int64_t index, bool store)
{
    int64_t first;
    unsigned array = array_of(at, role, &first);
    emit_same(store ? emit_store(&at->e, array, first + index, 2) : emit_load(&at->e, array, first + index, 2, 1));
}

/* The element of a source for element e of the map; false: it has none. */
static bool source_of(const struct at *at, const struct heartwall_source *s, int64_t e, int64_t *index)
{
    const struct heartwall_phase *f = at->phase;
    int64_t row = e % f->rows + s->row, column = e / f->rows + s->column, half = (f->rows - 1) / 2;
    *index = column * s->pitch + row;
    if (f->backwards)
        *index = f->n - 1 - e;
    if (s->array == HW_FRAME)
        *index =
            (column + at->h->column[at->block] - half - 1) * HEARTWALL_ROWS + row + at->h->row[at->block] - half - 1;
    return !f->inside || (row >= 0 && column >= 0 && row < s->pitch && column < s->pitch);
}

static void load_source(const struct at *at, const struct heartwall_source *s, int64_t e)
{
    int64_t index[PROGRAM_LANES], first;
    struct emit some = at->e;
    if (s->array == HW_NONE)
        return;
    unsigned array = array_of(at, s->array, &first);
    for (unsigned l = 0; l < PROGRAM_LANES; l++) {
        if (!source_of(at, s, e + l, &index[l]))
            some.active &= ~(1u << l);
        index[l] += first;
    }
    if (some.active)
        emit_gather(&some, array, index, at->phase->rows == at->phase->n ? LINEAR : MAPPED, 1);
}

static void map(const struct at *at)
{
    int64_t first, e = at->step->round * (int64_t)HEARTWALL_THREADS + at->warp * PROGRAM_LANES;
    if (at->phase->point) {
        point(at, HW_ROW, 0, false);
        point(at, HW_COLUMN, 0, false);
    }
    uint32_t loads = at->e.body->count;
    load_source(at, &at->phase->source[0], e);
    load_source(at, &at->phase->source[1], e);
    emit_hoist(&at->e, loads);
    if (at->phase->store == HW_NONE)
        return;
    unsigned array = array_of(at, at->phase->store, &first);
    emit_store(&at->e, array, first + e, LINEAR);
}

static void walk(const struct at *at)
{
    const struct heartwall_phase *f = at->phase;
    int64_t first, t = at->warp * PROGRAM_LANES;
    unsigned array = array_of(at, f->source[0].array, &first);
    struct program_access *a = emit_apart(emit_load(&at->e, array, first + t * f->lane, 2, 1), f->lane);
    a->turn_stride = f->turn * (int64_t)4;
    if (f->store == HW_NONE)
        return;
    a = emit_apart(emit_store(&at->e, array, first + t * f->lane, 1), f->lane);
    a->turn_stride = f->turn * (int64_t)4;
}

static void convolve(const struct at *at, bool mask)
{
    int64_t index[PROGRAM_LANES] = {0}, first, e = at->step->round * (int64_t)HEARTWALL_THREADS;
    int64_t way = mask ? 1 : -1, pitch = mask ? at->h->p.template + at->h->p.area - 1 : at->h->p.area;
    e += at->warp * PROGRAM_LANES;
    if (at->step->last) {
        unsigned sums = array_of(at, HW_SUB_SQUARED, &first);
        if (mask)
            emit_load(&at->e, sums, first + e, LINEAR, 1);
        unsigned to = array_of(at, mask ? HW_MASK_CONV : HW_CONV, &first);
        emit_store(&at->e, to, first + e, mask ? 2 : MAPPED);
        return;
    }
    unsigned array = array_of(at, mask ? HW_MASK : HW_AREA, &first);
    first += way * (at->step->outer * pitch + at->step->inner);
    for (uint32_t rest = at->e.active; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        index[l] = first + at->h->first[mask][e + l];
    }
    emit_gather(&at->e, array, index, TRIP, 1)->turn_stride = 4 * way;
}

/* Where the point is, was, and is now. */
static void follow(const struct at *at, enum heartwall_kind kind)
{
    static const uint8_t is[2] = {HW_ROW, HW_COLUMN}, found[2] = {HW_ROW_TO, HW_COLUMN_TO};
    for (unsigned k = 0; k < 2; k++) {
        if (kind == HW_BEFORE)
            point(at, found[k], at->frame - 1, false);
        if (kind == HW_FOLLOW)
            point(at, found[k], at->frame, false);
        point(at, is[k], 0, kind == HW_FOLLOW);
        if (kind == HW_PLACE)
            point(at, found[k], at->frame, true);
    }
}

static void do_step(const struct at *at)
{
    at->e.body->turns = at->step->turns ? at->step->turns : 1;
    at->e.body->after = 2;
    if (!at->step->active)
        emit_barrier(&at->e, 1);
    else if (at->phase->kind == HW_MAP)
        map(at);
    else if (at->phase->kind == HW_WALK)
        walk(at);
    else if (at->phase->kind == HW_CONVOLVE || at->phase->kind == HW_CONVOLVE_MASK)
        convolve(at, at->phase->kind == HW_CONVOLVE_MASK);
    else
        follow(at, at->phase->kind);
}

int heartwall_kernel(struct emit *e)
{
    const struct heartwall *h = e->state;
    const struct heartwall_program *part = &h->part[e->launch ? HW_TRACK : HW_CUT];
    uint32_t w = e->at.warp, index = e->index;
    if (index >= part->steps[w] && e->launch && e->launch % TENTH == 0) {
        index -= (uint32_t)part->steps[w];
        part = &h->part[HW_UPDATE];
    }
    if (index >= part->steps[w])
        return part->steps[w] == 0 && program_no_trip(index, MAPPED, e->body);
    const struct heartwall_step *step = &part->step[w][index];
    struct at at = {.h = h, .phase = &part->phase[step->phase], .step = step, .frame = e->launch, .warp = w, .e = *e};
    at.block = (int64_t)e->at.block;
    at.e.active = step->active;
    do_step(&at);
    return 1;
}
