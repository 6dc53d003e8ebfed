/* The steps of each warp in the phases, which heartwall_phases.c lists. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/program.h"
#include "trace/workloads/rodinia/parts/heartwall_phases.h"

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
    heartwall_phases(p, shape, part);
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
