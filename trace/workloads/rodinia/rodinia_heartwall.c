/* rodinia-heartwall: points of a heart's wall followed through a video, a block of 256 threads for each point.
 *
 * A launch for each frame of 656 x 744 floats, column-major. Frame 0: each block cuts its template of T x T elements
 * out of the frame (rounds of 256). Later frames: it takes an area of A x A around its point, convolves it with the
 * template in shared memory (a thread for each of C x C outputs, C = T + A - 1; neighbouring lanes load neighbouring
 * elements of the area), sums area and squared area over windows (cumulative sums down and across), corrects, masks,
 * and looks for the largest: 35 phases, most with a barrier behind (parts/heartwall_phases.c lists them). In every
 * tenth frame the templates are renewed.
 * Arrays on 256 B from 0xC0000000 on: the frame; of the 20 inner points row and column, and both for each frame of
 * the video; of the 31 outer ones the same; templates of the inner, of the outer ones; then for each of the 12 kinds
 * of arrays of a point (in2 A^2, conv C^2, pad_cumv P^2, cumv_sel, sub_cumh C P, cumh_sel, sub2 C^2, in2_sqr A^2,
 * sqr_sub2 C^2, in_sqr T^2, tMask, mask_conv C^2; P = A + 2 T) one for each point. The CPU has written the frame and
 * the points.
 * Worked example: T = 51, A = 81: a block's convolution takes 51^2 81^2 = 17,065,161 loads of lanes.
 * Uses and instructions: each value is used by the next instruction; 20 instructions before a load whose row and
 * column are worked out, 4 before others, 3 in a convolution: assumed. order=hoisted: both loads of an element come
 * first.
 * Source: Rodinia 3.1, cuda/heartwall/main.cu, kernel.cu, define.c; frames = 2: the F3FS artifact (test.avi 2);
 * registers, shared memory: nvcc 13.0 -O3 for compute capability 7.5.
 * Differs: the points stand on two ellipses like Rodinia's, and are always found where they were; the video's length
 * (it spaces four small arrays) is assumed; copies of frames to the GPU between launches are left out. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/rodinia/parts/heartwall_phases.h"
#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { ROWS = 656, COLUMNS = 744, INNER = 20, POINTS = 51, TENTH = 10 };
enum { MAPPED = 20, LINEAR = 4, TRIP = 3, SHARED = 11872 };
enum { FRAME, INNER_ROW, OUTER_ROW = INNER_ROW + 4, INNER_T = OUTER_ROW + 4, OUTER_T, OWN, ARRAYS = OWN + 12 };

struct heartwall_params {
    int64_t frames, template, area, points, video, order, compute_ns;
};

struct heartwall {
    struct plan plan;
    struct heartwall_params p;
    struct heartwall_shape shape;
    struct heartwall_program part[3]; /* by enum heartwall_part */
    int64_t inner, row[POINTS], column[POINTS];
    int32_t *first[2]; /* of each output: the element that its first trip loads; of the convolution, of the mask's */
};

static const struct param heartwall_params[] = {
    PARAM_INT_ROW(heartwall_params, frames, "", 1, 1 << 16, 2, "of the video that are processed"),
    PARAM_INT_ROW(heartwall_params, template, "", 1, 51, 51, "rows and columns of a template"),
    PARAM_INT_ROW(heartwall_params, area, "", 1, 81, 81, "rows and columns that it is sought in"),
    PARAM_INT_ROW(heartwall_params, points, "", 2, POINTS, POINTS, "followed; two fifths of them inner ones"),
    PARAM_INT_ROW(heartwall_params, video, "", 1, 1 << 16, 104, "frames of the whole video"),
    RODINIA_ORDER_ROW(heartwall_params),
    PARAM_NS_AUTO_ROW(heartwall_params, compute_ns, 0, 1e9, "time of a warp's step, its data at hand"),
    {0}};

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

/* Bytes from a block's own array to the next block's. */
static uint64_t own_bytes(const struct heartwall *h, unsigned role)
{
    return (own_elements(&h->shape, role) * 4 + RODINIA_ALIGN - 1) / RODINIA_ALIGN * RODINIA_ALIGN;
}

/* --- one step of a warp --- */

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
        return FRAME;
    if (role <= HW_COLUMN_TO) {
        *first = role >= HW_ROW_TO ? point * at->h->p.video : point;
        return (in ? INNER_ROW : OUTER_ROW) + role - HW_ROW;
    }
    if (role == HW_TEMPLATE) {
        *first = point * at->h->p.template * at->h->p.template;
        return in ? INNER_T : OUTER_T;
    }
    *first = at->block * (int64_t)(own_bytes(at->h, role) / 4);
    return OWN + role - HW_AREA;
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
        *index = (column + at->h->column[at->block] - half - 1) * ROWS + row + at->h->row[at->block] - half - 1;
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

static int kernel(struct emit *e)
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

/* --- memory and launches --- */

static void heartwall_close(void *state)
{
    struct heartwall *h = state;
    for (unsigned i = 0; i < 3; i++)
        heartwall_program_release(&h->part[i]);
    free(h->first[0]);
    free(h->first[1]);
    free(h);
}

/* Where the points are: on an ellipse around (378, 323), or (397, 306). */
static void place_points(struct heartwall *h)
{
    for (int64_t i = 0; i < h->p.points; i++) {
        bool in = i < h->inner;
        double angle = 2 * M_PI * (double)(in ? i : i - h->inner) / (double)(in ? h->inner : h->p.points - h->inner);
        h->row[i] = lround((in ? 378 : 397) + (in ? 109 : 146) * sin(angle));
        h->column[i] = lround((in ? 323 : 306) + (in ? 88 : 152) * cos(angle));
    }
}

static void lay_out(struct heartwall *h)
{
    static const char *const names[ARRAYS] = {
        "frame",      "endoRow", "endoCol", "tEndoRowLoc", "tEndoColLoc", "epiRow",   "epiCol",   "tEpiRowLoc",
        "tEpiColLoc", "endoT",   "epiT",    "in2",         "conv",        "pad_cumv", "cumv_sel", "sub_cumh",
        "cumh_sel",   "sub2",    "in2_sqr", "sqr_sub2",    "in_sqr",      "tMask",    "mask_conv"};
    uint64_t inner = (uint64_t)h->inner, outer = (uint64_t)h->p.points - inner, video = (uint64_t)h->p.video;
    uint64_t t = (uint64_t)h->p.template * (uint64_t)h->p.template;
    const uint64_t elements[OWN] = {ROWS * COLUMNS, inner,         inner,         inner * video, inner * video, outer,
                                    outer,          outer * video, outer * video, inner * t,     outer * t};
    for (unsigned i = 0; i < ARRAYS; i++) {
        uint64_t points = (uint64_t)h->p.points;
        uint64_t bytes = i < OWN ? elements[i] * 4 : own_bytes(h, HW_AREA + i - OWN) * points;
        bool host = i == FRAME || (i < INNER_T && (i - INNER_ROW) % 4 < 2);
        (host ? plan_input : plan_array)(&h->plan, names[i], bytes);
    }
    plan_kernel(&h->plan, kernel, "kernel", (uint64_t)h->p.points, HEARTWALL_THREADS, 55, SHARED);
    h->plan.launches = (uint32_t)h->p.frames;
}

/* Where the loops of each output begin. */
static int find_firsts(struct heartwall *h, struct err *err)
{
    int32_t c = h->shape.template + h->shape.area - 1;
    for (int mask = 0; mask < 2; mask++) {
        h->first[mask] = mem_zalloc((size_t)c * (size_t)c, sizeof **h->first, err);
        if (!h->first[mask])
            return -1;
        for (int32_t e = 0; e < c * c; e++) {
            struct heartwall_trips t = heartwall_trips(&h->shape, mask, e);
            h->first[mask][e] = t.first_column * (mask ? c : h->shape.area) + t.first_row;
        }
    }
    return 0;
}

static void *heartwall_open(const void *params, struct err *err)
{
    const struct heartwall_params *p = params;
    if (p->template > p->area || p->frames > p->video) {
        (void)err_set(err, "template %lld, area %lld, frames %lld of a video of %lld; expected a template in its area",
                      (long long)p->template, (long long)p->area, (long long)p->frames, (long long)p->video);
        return NULL;
    }
    struct heartwall *h = rodinia_new(sizeof *h, p->order, p->compute_ns, err);
    if (!h)
        return NULL;
    h->p = *p;
    h->shape = (struct heartwall_shape){(int32_t)p->template, (int32_t)p->area};
    h->inner = p->points * INNER / POINTS + (p->points < 3);
    place_points(h);
    lay_out(h);
    int rc = find_firsts(h, err);
    for (unsigned i = 0; i < 3 && !rc; i++)
        rc = heartwall_program_init(&h->part[i], &h->shape, i, err);
    if (!rc)
        return h;
    heartwall_close(h);
    return NULL;
}

const struct workload_type workload_rodinia_heartwall = {
    .name = "rodinia-heartwall",
    .summary = "points of a heart's wall followed through a video, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/heartwall",
    WORKLOAD_WITH_KEYS(heartwall),
    .close = heartwall_close,
    .program = plan_program,
};
