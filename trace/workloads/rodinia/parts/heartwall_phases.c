#include "trace/workloads/rodinia/parts/heartwall_phases.h"

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

void heartwall_phases(struct heartwall_program *p, const struct heartwall_shape *s, enum heartwall_part part)
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
