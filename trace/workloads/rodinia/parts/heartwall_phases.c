#include "trace/workloads/rodinia/parts/heartwall_phases.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/program.h"

/* --- the phases, in order --- */

static struct heartwall_phase *add(struct heartwall_program *p, enum heartwall_kind kind)
{
    struct heartwall_phase *f = &p->phase[p->phases++];
    *f = (struct heartwall_phase){
        .kind = (uint8_t)kind, .store = HW_NONE, .source = {{.array = HW_NONE}, {.array = HW_NONE}}};
    return f;
}

/* store[e] = f(source[e]) over n elements. */
static struct heartwall_phase *add_map(struct heartwall_program *p, int32_t n, uint8_t source, uint8_t store)
{
    struct heartwall_phase *f = add(p, HW_MAP);
    f->n = f->rows = n;
    f->store = store;
    f->source[0] = (struct heartwall_source){.array = source, .pitch = n};
    return f;
}

/* store[e] = f(source[e], store[e]). */
static void add_both(struct heartwall_program *p, int32_t n, uint8_t source, uint8_t store)
{
    add_map(p, n, source, store)->source[1] = (struct heartwall_source){.array = store, .pitch = n};
}

/* A part of another array of `pitch` rows, from (row, column) on. */
static struct heartwall_phase *add_part(struct heartwall_program *p, int32_t rows, int32_t columns, uint8_t store,
                                        struct heartwall_source source)
{
    struct heartwall_phase *f = add_map(p, rows * columns, source.array, store);
    f->rows = rows;
    f->source[0] = source;
    return f;
}

static void add_walk(struct heartwall_program *p, uint8_t array, int32_t threads, int32_t turns, int32_t lane,
                     int32_t turn, bool stores)
{
    struct heartwall_phase *f = add(p, HW_WALK);
    f->source[0].array = array;
    f->store = stores ? array : HW_NONE;
    f->n = threads;
    f->turns = turns;
    f->lane = lane;
    f->turn = turn;
}

/* Sums of `from` over T x T windows, by differences of cumulative sums down and across, into `to`. */
static void add_window_sums(struct heartwall_program *p, const struct heartwall_shape *s, uint8_t from, uint8_t to,
                            bool again)
{
    int32_t t = s->template, P = s->area + 2 * t, c = s->area + t - 1;
    struct heartwall_phase *pad = add_part(p, P, P, HW_PAD, (struct heartwall_source){from, s->area, -t, -t});
    pad->inside = true;
    add_walk(p, HW_PAD, P, P, P, 1, true);
    (void)add_part(p, c, P, HW_PAD_SELECTED, (struct heartwall_source){HW_PAD, P, t, 0});
    (void)add_part(p, c, P, HW_SUM, (struct heartwall_source){HW_PAD, P, 0, 0});
    add_both(p, c * P, HW_PAD_SELECTED, HW_SUM);
    p->phase[p->phases - 1].free = again; /* the second time there is no barrier here */
    add_walk(p, HW_SUM, c, P, 1, c, true);
    (void)add_part(p, c, c, HW_SUM_SELECTED, (struct heartwall_source){HW_SUM, c, 0, t});
    (void)add_part(p, c, c, to, (struct heartwall_source){HW_SUM, c, 0, 0});
    add_both(p, c * c, HW_SUM_SELECTED, to);
}

static void add_tracking(struct heartwall_program *p, const struct heartwall_shape *s)
{
    int32_t t = s->template, a = s->area, c = a + t - 1;
    add(p, HW_POINT)->free = true;
    (void)add_part(p, a, a, HW_AREA, (struct heartwall_source){.array = HW_FRAME});
    add_map(p, t * t, HW_TEMPLATE, HW_NONE)->backwards = true;
    (void)add(p, HW_CONVOLVE);
    add_window_sums(p, s, HW_AREA, HW_SUB, false);
    (void)add_map(p, a * a, HW_AREA, HW_AREA_SQUARED);
    add_window_sums(p, s, HW_AREA_SQUARED, HW_SUB_SQUARED, true);
    add_both(p, c * c, HW_SUB, HW_SUB_SQUARED);
    (void)add_map(p, t * t, HW_TEMPLATE, HW_TEMPLATE_SQUARED);
    add_walk(p, HW_TEMPLATE, t, t, t, 1, false);
    add_walk(p, HW_TEMPLATE_SQUARED, t, t, 1, t, false);
    (void)add(p, HW_SYNC);
    (void)add(p, HW_SYNC);
    (void)add_map(p, c * c, HW_SUB_SQUARED, HW_SUB_SQUARED);
    struct heartwall_phase *less = add_map(p, c * c, HW_CONV, HW_CONV);
    less->source[1] = (struct heartwall_source){.array = HW_SUB, .pitch = c * c};
    add_both(p, c * c, HW_CONV, HW_SUB_SQUARED);
    add(p, HW_BEFORE)->free = true;
    (void)add_map(p, c * c, HW_NONE, HW_MASK);
    (void)add(p, HW_CONVOLVE_MASK);
    add_walk(p, HW_MASK_CONV, c, c, c, 1, false);
    (void)add(p, HW_PLACE);
}

static void add_phases(struct heartwall_program *p, const struct heartwall_shape *s, enum heartwall_part part)
{
    const struct heartwall_source frame = {.array = HW_FRAME};
    int32_t t = s->template;
    if (part == HW_TRACK) {
        add_tracking(p, s);
        return;
    }
    add(p, part == HW_CUT ? HW_PLACE : HW_FOLLOW)->free = true;
    struct heartwall_phase *cut = add_part(p, t, t, HW_TEMPLATE, frame);
    cut->point = cut->free = true;
    if (part == HW_UPDATE) {
        cut->source[0] = (struct heartwall_source){.array = HW_TEMPLATE, .pitch = t};
        cut->source[1] = frame;
    }
}

/* --- steps --- */

struct heartwall_trips heartwall_trips(const struct heartwall_shape *s, bool mask, int32_t e)
{
    int32_t c = s->template + s->area - 1, shift = mask ? HEARTWALL_MOVE / 2 : 0;
    int32_t most = mask ? c : s->template, other = mask ? HEARTWALL_MOVE : s->area;
    int32_t at[2] = {e % c + 1 + shift, e / c + 1 + shift}, trips[2], first[2];
    for (int k = 0; k < 2; k++) {
        int32_t from = other < at[k] + 1 ? at[k] + 1 - other : 1, to = most < at[k] ? most : at[k];
        trips[k] = to - from + 1;
        first[k] = (mask ? from : at[k] + 1 - from) - 1;
    }
    return (struct heartwall_trips){trips[1], trips[0], first[1], first[0]};
}

struct filling {
    struct heartwall_program *p;
    const struct heartwall_shape *shape;
    uint32_t warp;
    size_t cap;
    struct heartwall_step step; /* what the next has in common */
};

static int put(struct filling *f, struct err *err)
{
    struct heartwall_program *p = f->p;
    if (mem_grow((void **)&p->step[f->warp], &f->cap, p->steps[f->warp] + 1, sizeof **p->step, err))
        return -1;
    p->step[f->warp][p->steps[f->warp]++] = f->step;
    return 0;
}

/* Lanes whose element of the round is below n. */
static uint32_t lanes_of(uint32_t warp, uint32_t round, int32_t n)
{
    int64_t left = (int64_t)n - (int64_t)HEARTWALL_THREADS * round - (int64_t)PROGRAM_LANES * warp;
    return left > 0 ? program_first_lanes((uint64_t)left) : 0;
}

/* The loops of a round of outputs: an outer trip at a time, the inner ones in stretches with the same lanes. */
static int put_trips(struct filling *f, bool mask, struct err *err)
{
    struct heartwall_trips trips[PROGRAM_LANES];
    uint32_t all = f->step.active;
    int32_t outer = 0, inner = 0;
    for (uint32_t l = 0; l < PROGRAM_LANES && all >> l; l++) {
        trips[l] =
            heartwall_trips(f->shape, mask, (int32_t)(f->step.round * HEARTWALL_THREADS + f->warp * PROGRAM_LANES + l));
        outer = trips[l].outer > outer ? trips[l].outer : outer;
        inner = trips[l].inner > inner ? trips[l].inner : inner;
    }
    for (int32_t m = 0; m < outer; m++)
        for (int32_t n = 0, next; n < inner; n = next) {
            f->step.active = 0;
            next = inner;
            for (uint32_t l = 0; l < PROGRAM_LANES && all >> l; l++)
                if (m < trips[l].outer && n < trips[l].inner) {
                    f->step.active |= 1u << l;
                    next = trips[l].inner < next ? trips[l].inner : next;
                }
            f->step.outer = (uint16_t)m;
            f->step.inner = (uint16_t)n;
            f->step.turns = (uint16_t)(next - n);
            if (f->step.active && put(f, err))
                return -1;
        }
    f->step.active = all;
    f->step.turns = 1;
    f->step.last = true;
    int rc = put(f, err);
    f->step.last = false;
    return rc;
}

static int put_rounds(struct filling *f, const struct heartwall_phase *phase, struct err *err)
{
    int32_t c = f->shape->template + f->shape->area - 1;
    bool maps = phase->kind == HW_MAP;
    for (uint32_t round = 0; (f->step.active = lanes_of(f->warp, round, maps ? phase->n : c * c)); round++) {
        f->step.round = (uint16_t)round;
        f->step.turns = 1;
        if (maps ? put(f, err) : put_trips(f, phase->kind == HW_CONVOLVE_MASK, err))
            return -1;
    }
    f->step.round = 0;
    return 0;
}

static int put_phase(struct filling *f, const struct heartwall_phase *phase, struct err *err)
{
    f->step.active = 0xffffffffu;
    f->step.turns = 1;
    switch (phase->kind) {
    case HW_MAP:
    case HW_CONVOLVE:
    case HW_CONVOLVE_MASK:
        return put_rounds(f, phase, err);
    case HW_WALK:
        f->step.active = lanes_of(f->warp, 0, phase->n);
        f->step.turns = (uint16_t)phase->turns;
        break;
    case HW_PLACE:
        f->step.active = f->warp == 0;
        break;
    case HW_SYNC:
        return 0;
    default:
        break;
    }
    return f->step.active ? put(f, err) : 0;
}

int heartwall_program_init(struct heartwall_program *p, const struct heartwall_shape *shape, enum heartwall_part part,
                           struct err *err)
{
    memset(p, 0, sizeof *p);
    add_phases(p, shape, part);
    for (uint32_t warp = 0; warp < HEARTWALL_WARPS; warp++) {
        struct filling f = {.p = p, .shape = shape, .warp = warp};
        for (unsigned i = 0; i < p->phases; i++) {
            f.step.phase = (uint8_t)i;
            if (put_phase(&f, &p->phase[i], err))
                return -1;
            f.step = (struct heartwall_step){.phase = (uint8_t)i}; /* no lane: the barrier */
            if (!p->phase[i].free && put(&f, err))
                return -1;
        }
    }
    return 0;
}

void heartwall_program_release(struct heartwall_program *p)
{
    for (unsigned i = 0; i < HEARTWALL_WARPS; i++)
        free(p->step[i]);
    memset(p, 0, sizeof *p);
}
