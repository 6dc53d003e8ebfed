/* rodinia-heartwall: points of a heart's wall followed through a video, a block of 256 threads for each point.
 *
 * A launch for each frame of 656 x 744 floats, column-major. Frame 0: each block cuts its template of T x T elements
 * out of the frame. Later frames: it convolves an area of A x A around its point with the template in shared memory (a
 * thread for each of C x C outputs, C = T + A - 1), corrects by sums over windows (cumulative sums down and across),
 * masks, and looks for the largest. In every tenth frame the templates are renewed. What a block does is a list of
 * phases: the tables in set_phases(). A step is a body of a warp: a round of 256 elements, a walk, or trips of a
 * convolution's loops that the same lanes make. Blocks differ in addresses only, so the steps are listed once for each
 * of the 8 warps.
 * Worked example: T = 51, A = 81: a block's convolution takes 51^2 81^2 = 17,065,161 loads of lanes. T = 2, A = 3: C =
 * 4; outputs (i, j), i, j = 1 to 4, take 1, 2, 2, 1 trips in each direction: 36 loads of lanes.
 * Uses and instructions: assumed; 20 before a load whose row and column are worked out, 4 before others, 3 in a
 * convolution. order=hoisted: both loads of an element come first.
 * Source: Rodinia 3.1, cuda/heartwall/main.cu (sizes), kernel.cu (phases, in its order), define.c; frames = 2: the F3FS
 * artifact (test.avi 2).
 * Differs: the points stand on two ellipses like Rodinia's, and are always found where they were; the video's length
 * (it spaces four small arrays) is assumed; copies of frames to the GPU between launches are left out. */
#include <math.h>
#include <string.h>

#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 256, WARPS = 8, SHARED = 11872, FRAME_ROWS = 656, FRAME_COLUMNS = 744, POINTS = 51, INNER = 20 };
enum { MOVE = 10 /* the mask is 10 x 10 */, TENTH = 10, MAPPED = 20, LINEAR = 4, TRIP = 3, PHASES = 40 };

/* Arrays by the role that they have for a block: four that its kind of points has (where the point is; where it was in
 * each frame), its kind's templates, then its own. */
enum { NONE, FRAME, ROW, COLUMN, ROW_TO, COLUMN_TO, TEMPLATE, AREA, CONV, PAD, PAD_SELECTED, SUM, SUM_SELECTED, SUB };
enum { AREA_SQUARED = SUB + 1, SUB_SQUARED, TEMPLATE_SQUARED, MASK, MASK_CONV, OWN = MASK_CONV + 1 - AREA };

/* Those arrays by number. */
enum { INNER_ROW = 1, OUTER_ROW = 5, INNER_T = 9, OUTER_T = 10, FIRST_OWN = 11 };

enum { CUT, TRACK, UPDATE, PARTS }; /* frame 0; later ones; besides in every tenth */

/* Flags of a phase. */
enum {
    FREE = 1,      /* no barrier behind it */
    INSIDE = 2,    /* only the middle of the map has a source: those beyond are stored as 0 */
    BACKWARDS = 4, /* the source is read from its end on */
    POINTED = 8,   /* each round loads where the point is first */
};

struct phase {
    enum kind {
        MAP,  /* up to two loads for each of rows x columns elements, a store */
        WALK, /* `rows` threads load, and store, `columns` elements each */
        CONVOLVE,
        CONVOLVE_MASK,
        PLACE,  /* thread 0 loads where the point is and stores where it is now */
        POINT,  /* all threads load where it is */
        BEFORE, /* and where it was a frame ago */
        FOLLOW, /* all threads set where it is to where it was found */
        SYNC,   /* shared memory only */
    } kind;
    int flags;
    uint8_t store; /* array */
    int32_t rows, columns;
    uint8_t source[2]; /* arrays */
    /* Map: element e is element (e / rows + column) pitch + e % rows + row of the array. Walk: elements from a lane to
     * the next (row), from a turn to the next (column). */
    struct {
        int32_t pitch, row, column;
    } at;
};

struct step {
    uint8_t phase;
    bool last;                           /* convolutions: the store */
    uint16_t round, outer, inner, turns; /* trips of a convolution's loops: the outer, first of the inner, how many */
    uint32_t active;
};

/* The trips of an output's loops, and the element that the first one loads. */
struct trips {
    int32_t outer, inner, first;
};

struct heartwall {
    struct layout layout;
    int64_t frames, template, area, points, video;
    int64_t inner, row[POINTS], column[POINTS];
    int64_t own[OWN];       /* elements from a block's own array to the next block's */
    struct trips *trips[2]; /* of each output: of the convolution, of the mask's */
    struct part {
        unsigned phases;
        struct phase phase[PHASES];
        struct step *step[WARPS];
        size_t steps[WARPS];
    } part[PARTS];
};

static const struct param heartwall_keys[] = {
    PARAM_INT_ROW(heartwall, frames, "", 1, 1 << 16, 2, "of the video that are processed"),
    PARAM_INT_ROW(heartwall, template, "", 1, 51, 51, "rows and columns of a template"),
    PARAM_INT_ROW(heartwall, area, "", 1, 81, 81, "rows and columns that it is sought in"),
    PARAM_INT_ROW(heartwall, points, "", 2, POINTS, POINTS, "followed; two fifths of them inner ones"),
    PARAM_INT_ROW(heartwall, video, "", 1, 1 << 16, 104, "frames of the whole video"),
    RODINIA_KEYS("time of a warp's step, its data at hand")};

/* --- the phases --- */

#define ADD(part, ...)                                                                                                 \
    add_phases(part, (const struct phase[]){__VA_ARGS__}, sizeof((const struct phase[]){__VA_ARGS__}))

static void add_phases(struct part *p, const struct phase *phase, size_t bytes)
{
    memcpy(p->phase + p->phases, phase, bytes);
    p->phases += (unsigned)(bytes / sizeof *phase);
}

/* Sums of `from` over T x T windows, by differences of cumulative sums down and across, into `to`. */
static void add_window_sums(struct part *p, int32_t t, int32_t a, uint8_t from, uint8_t to)
{
    int32_t c = a + t - 1, P = a + 2 * t;
    ADD(p, {MAP, INSIDE, PAD, P, P, {from}, {a, -t, -t}}, {WALK, 0, PAD, P, P, {PAD}, {0, P, 1}},
        {MAP, 0, PAD_SELECTED, c, P, {PAD}, {P, t, 0}}, {MAP, 0, SUM, c, P, {PAD}, {P, 0, 0}},
        {MAP, from == AREA_SQUARED ? FREE : 0, SUM, c * P, 1, {PAD_SELECTED, SUM}, {0}},
        {WALK, 0, SUM, c, P, {SUM}, {0, 1, c}}, {MAP, 0, SUM_SELECTED, c, c, {SUM}, {c, 0, t}},
        {MAP, 0, to, c, c, {SUM}, {c, 0, 0}}, {MAP, 0, to, c * c, 1, {SUM_SELECTED, to}, {0}});
}

static void set_phases(struct part *part, int32_t t, int32_t a)
{
    int32_t c = a + t - 1;
    struct part *p = &part[TRACK];
    ADD(&part[CUT], {.kind = PLACE, .flags = FREE}, {MAP, POINTED | FREE, TEMPLATE, t, t, {FRAME}, {0}});
    ADD(&part[UPDATE], {.kind = FOLLOW, .flags = FREE},
        {MAP, POINTED | FREE, TEMPLATE, t, t, {TEMPLATE, FRAME}, {t, 0, 0}});
    ADD(p, {.kind = POINT, .flags = FREE}, {MAP, 0, AREA, a, a, {FRAME}, {0}},
        {MAP, BACKWARDS, NONE, t * t, 1, {TEMPLATE}, {0}}, {.kind = CONVOLVE});
    add_window_sums(p, t, a, AREA, SUB);
    ADD(p, {MAP, 0, AREA_SQUARED, a * a, 1, {AREA}, {0}});
    add_window_sums(p, t, a, AREA_SQUARED, SUB_SQUARED);
    ADD(p, {MAP, 0, SUB_SQUARED, c * c, 1, {SUB, SUB_SQUARED}, {0}},
        {MAP, 0, TEMPLATE_SQUARED, t * t, 1, {TEMPLATE}, {0}}, {WALK, 0, NONE, t, t, {TEMPLATE}, {0, t, 1}},
        {WALK, 0, NONE, t, t, {TEMPLATE_SQUARED}, {0, 1, t}}, {.kind = SYNC}, {.kind = SYNC},
        {MAP, 0, SUB_SQUARED, c * c, 1, {SUB_SQUARED}, {0}}, {MAP, 0, CONV, c * c, 1, {CONV, SUB}, {0}},
        {MAP, 0, SUB_SQUARED, c * c, 1, {CONV, SUB_SQUARED}, {0}}, {.kind = BEFORE, .flags = FREE},
        {MAP, 0, MASK, c * c, 1, {NONE}, {0}}, {.kind = CONVOLVE_MASK}, {WALK, 0, NONE, c, c, {MASK_CONV}, {0, c, 1}},
        {.kind = PLACE});
}

/* --- the steps of each warp --- */

/* Of output e of the convolution, or of that of the mask. */
static struct trips trips_of(int32_t t, int32_t a, bool mask, int32_t e)
{
    int32_t c = t + a - 1, most = mask ? c : t, other = mask ? MOVE : a, trips[2], first[2];
    for (int k = 0; k < 2; k++) {
        int32_t at = (k ? e / c : e % c) + 1 + (mask ? MOVE / 2 : 0);
        int32_t from = other < at + 1 ? at + 1 - other : 1, to = most < at ? most : at;
        trips[k] = to - from + 1;
        first[k] = (mask ? from : at + 1 - from) - 1;
    }
    return (struct trips){trips[1], trips[0], first[1] * (mask ? c : a) + first[0]};
}

struct filling {
    struct part *part;
    uint32_t warp;
    size_t cap;
    struct err *err;
    bool failed;
};

static void put(struct filling *f, struct step step)
{
    struct step **list = &f->part->step[f->warp];
    size_t *n = &f->part->steps[f->warp];
    f->failed = f->failed || MEM_ADD(*list, *n, f->cap, f->err, step);
}

/* The loops of a round of outputs: an outer trip at a time, the inner ones in stretches with the same lanes. */
static void put_trips(struct filling *f, struct step step, const struct trips *trips)
{
    uint32_t all = step.active;
    int32_t outer = 0, inner = 0;
    for (uint32_t l = 0; l < PROGRAM_LANES && all >> l; l++) {
        outer = trips[l].outer > outer ? trips[l].outer : outer;
        inner = trips[l].inner > inner ? trips[l].inner : inner;
    }
    for (int32_t m = 0; m < outer; m++)
        for (int32_t n = 0, next = inner; n < inner; n = next, next = inner) {
            step.active = 0;
            for (uint32_t l = 0; l < PROGRAM_LANES && all >> l; l++)
                if (m < trips[l].outer && n < trips[l].inner) {
                    step.active |= 1u << l;
                    next = trips[l].inner < next ? trips[l].inner : next;
                }
            step.outer = (uint16_t)m;
            step.inner = (uint16_t)n;
            step.turns = (uint16_t)(next - n);
            if (step.active)
                put(f, step);
        }
    step.active = all;
    step.turns = 1;
    step.last = true;
    put(f, step);
}

static void put_phase(struct filling *f, const struct heartwall *h, uint8_t number)
{
    const struct phase *p = &f->part->phase[number];
    bool rounds = p->kind <= CONVOLVE_MASK && p->kind != WALK;
    int64_t c = h->template + h->area - 1, left = p->kind == MAP ? (int64_t)p->rows * p->columns : c * c;
    struct step step = {.phase = number, .turns = p->kind == WALK ? (uint16_t)p->columns : 1, .active = UINT32_MAX};
    left = (p->kind == WALK    ? p->rows
            : p->kind == PLACE ? 1
            : rounds           ? left
                               : THREADS) -
           (int64_t)PROGRAM_LANES * f->warp;
    for (; left > 0 && p->kind != SYNC; left -= THREADS, step.round++) {
        step.active = program_first_lanes(left);
        if (p->kind == CONVOLVE || p->kind == CONVOLVE_MASK)
            put_trips(f, step,
                      h->trips[p->kind - CONVOLVE] + (size_t)step.round * THREADS + (size_t)f->warp * PROGRAM_LANES);
        else
            put(f, step);
    }
    if (!(p->flags & FREE))
        put(f, (struct step){.phase = number}); /* no lane: the barrier */
}

static int put_steps(const struct heartwall *h, struct part *part, struct err *err)
{
    for (uint32_t warp = 0; warp < WARPS; warp++) {
        struct filling f = {.part = part, .warp = warp, .err = err};
        for (unsigned i = 0; i < part->phases; i++)
            put_phase(&f, h, (uint8_t)i);
        if (f.failed)
            return -1;
    }
    return 0;
}

/* --- a step --- */

struct at {
    const struct heartwall *h;
    const struct phase *phase;
    const struct step *step;
    struct emit e;
    int64_t block, warp, frame;
};

/* The array of a role for the block, and its first element. */
static unsigned array_of(const struct at *at, unsigned role, int64_t *first)
{
    bool in = at->block < at->h->inner;
    int64_t point = in ? at->block : at->block - at->h->inner;
    *first = 0;
    if (role == FRAME)
        return 0;
    if (role <= COLUMN_TO) {
        *first = role >= ROW_TO ? point * at->h->video : point;
        return (in ? INNER_ROW : OUTER_ROW) + role - ROW;
    }
    if (role == TEMPLATE) {
        *first = point * at->h->template * at->h->template;
        return in ? INNER_T : OUTER_T;
    }
    *first = at->block * at->h->own[role - AREA];
    return FIRST_OWN + role - AREA;
}

/* Element `index` of the block's array of a role in lane 0: a load, or a store. */
static struct program_access *load(const struct at *at, unsigned role, int64_t index, unsigned before)
{
    int64_t first;
    unsigned array = array_of(at, role, &first);
    return emit_load(&at->e, array, first + index, before, 1);
}

static struct program_access *store(const struct at *at, unsigned role, int64_t index, unsigned before)
{
    return emit_as(load(at, role, index, before), RECORD_WRITE);
}

/* The source of elements e to e + 31 of the map, where they have one. */
static void load_source(const struct at *at, unsigned role, int64_t e)
{
    const struct phase *f = at->phase;
    int64_t index[PROGRAM_LANES], first, half = (f->rows - 1) / 2 + 1, pitch = f->at.pitch;
    int64_t x = at->h->column[at->block] - half, y = at->h->row[at->block] - half;
    struct emit some = at->e;
    unsigned array = array_of(at, role, &first);
    for (int64_t l = 0; l < PROGRAM_LANES; l++) {
        int64_t row = (e + l) % f->rows + f->at.row, column = (e + l) / f->rows + f->at.column;
        index[l] = first + (f->flags & BACKWARDS ? f->rows - 1 - (e + l) : column * pitch + row);
        if (role == FRAME)
            index[l] = (column + x) * FRAME_ROWS + row + y;
        if (f->flags & INSIDE && (row < 0 || column < 0 || row >= pitch || column >= pitch))
            some.active &= ~(1u << l);
    }
    if (some.active)
        emit_gather(&some, array, index, f->columns == 1 || f->rows == 1 ? LINEAR : MAPPED, 1);
}

static void map(const struct at *at, int64_t e)
{
    if (at->phase->flags & POINTED) {
        emit_same(load(at, ROW, 0, 2));
        emit_same(load(at, COLUMN, 0, 2));
    }
    uint32_t loads = at->e.body->count;
    for (unsigned k = 0; k < 2 && at->phase->source[k]; k++)
        load_source(at, at->phase->source[k], e);
    emit_hoist(&at->e, loads);
    if (at->phase->store)
        store(at, at->phase->store, e, LINEAR);
}

static void walk(const struct at *at)
{
    const struct phase *f = at->phase;
    int64_t index = at->warp * PROGRAM_LANES * f->at.row;
    emit_apart(load(at, f->source[0], index, 2), f->at.row)->turn_stride = f->at.column * (int64_t)4;
    if (f->store)
        emit_apart(store(at, f->store, index, 1), f->at.row)->turn_stride = f->at.column * (int64_t)4;
}

static void convolve(const struct at *at, bool mask, int64_t e)
{
    int64_t index[PROGRAM_LANES] = {0}, first, c = at->h->template + at->h->area - 1;
    int64_t way = mask ? 1 : -1, pitch = mask ? c : at->h->area;
    unsigned array = array_of(at, mask ? MASK : AREA, &first);
    if (at->step->last) {
        if (mask)
            load(at, SUB_SQUARED, e, LINEAR);
        store(at, mask ? MASK_CONV : CONV, e, mask ? 2 : MAPPED);
        return;
    }
    first += way * (at->step->outer * pitch + at->step->inner);
    EMIT_LANES (l, at->e.active)
        index[l] = first + at->h->trips[mask][e + l].first;
    emit_gather(&at->e, array, index, TRIP, 1)->turn_stride = 4 * way;
}

/* Where the point is, was, and is now: row, then column. */
static void follow(const struct at *at, enum kind kind)
{
    for (unsigned k = 0; k < 2; k++) {
        if (kind == BEFORE || kind == FOLLOW)
            emit_same(load(at, ROW_TO + k, at->frame - (kind == BEFORE), 2));
        emit_same((kind == FOLLOW ? store : load)(at, ROW + k, 0, 2));
        if (kind == PLACE)
            emit_same(store(at, ROW_TO + k, at->frame, 2));
    }
}

static int heartwall_kernel(struct emit *e)
{
    const struct heartwall *h = e->state;
    const struct part *part = &h->part[e->launch ? TRACK : CUT];
    uint32_t w = e->at.warp, index = e->index;
    if (index >= part->steps[w] && e->launch && e->launch % TENTH == 0) {
        index -= (uint32_t)part->steps[w];
        part = &h->part[UPDATE];
    }
    if (index >= part->steps[w])
        return part->steps[w] == 0 && emit_idle(&(struct emit){.body = e->body, .index = index}, MAPPED);
    const struct step *step = &part->step[w][index];
    struct at at = {h, &part->phase[step->phase], step, *e, e->at.block, w, e->launch};
    int64_t element = step->round * (int64_t)THREADS + at.warp * PROGRAM_LANES;
    at.e.active = step->active;
    e->body->turns = step->turns ? step->turns : 1;
    if (!step->active)
        emit_barrier(e, 1);
    else if (at.phase->kind == MAP)
        map(&at, element);
    else if (at.phase->kind == WALK)
        walk(&at);
    else if (at.phase->kind <= CONVOLVE_MASK)
        convolve(&at, at.phase->kind == CONVOLVE_MASK, element);
    else
        follow(&at, at.phase->kind);
    return emit_end(e, 2);
}

/* --- memory and launches --- */

static void heartwall_close(void *state)
{
    struct heartwall *h = state;
    for (unsigned i = 0; i < PARTS * WARPS; i++)
        free(h->part[i / WARPS].step[i % WARPS]);
    free(h->trips[0]);
    free(h->trips[1]);
    free(h);
}

/* Where the points are: on an ellipse around (378, 323), or (397, 306). */
static void place_points(struct heartwall *h)
{
    for (int64_t i = 0; i < h->points; i++) {
        bool in = i < h->inner;
        double angle = 2 * M_PI * (double)(in ? i : i - h->inner) / (double)(in ? h->inner : h->points - h->inner);
        h->row[i] = lround((in ? 378 : 397) + (in ? 109 : 146) * sin(angle));
        h->column[i] = lround((in ? 323 : 306) + (in ? 88 : 152) * cos(angle));
    }
}

static void add_arrays(struct heartwall *h)
{
    static const char *const names[OWN] = {"in2",  "conv",    "pad_cumv", "cumv_sel", "sub_cumh", "cumh_sel",
                                           "sub2", "in2_sqr", "sqr_sub2", "in_sqr",   "tMask",    "mask_conv"};
    int64_t t = h->template, a = h->area, c = t + a - 1, P = a + 2 * t, inner = h->inner, outer = h->points - inner;
    const int64_t elements[OWN] = {a * a, c * c, P * P, c * P, c * P, c * c, c * c, a * a, c * c, t * t, c * c, c * c};
    LAYOUT_ARRAYS(&h->layout, {"+frame", UINT64_C(4) * FRAME_ROWS * FRAME_COLUMNS}, {"+endoRow|endoCol", inner * 4},
                  {"tEndoRowLoc|tEndoColLoc", inner * h->video * 4}, {"+epiRow|epiCol", outer * 4},
                  {"tEpiRowLoc|tEpiColLoc", outer * h->video * 4}, {"endoT", inner * t * t * 4},
                  {"epiT", outer * t * t * 4});
    for (unsigned i = 0; i < OWN; i++) {
        h->own[i] = layout_blocks(elements[i] * 4, RODINIA_ALIGN) * RODINIA_ALIGN / 4;
        layout_array(&h->layout, names[i], h->own[i] * h->points * 4);
    }
}

static int heartwall_init(struct heartwall *h, struct err *err)
{
    int32_t t = (int32_t)h->template, a = (int32_t)h->area, outputs = (t + a - 1) * (t + a - 1), rc = 0;
    if (t > a || h->frames > h->video)
        return err_set(err, "template %lld, area %lld, frames %lld of a video of %lld; expected a template in its area",
                       (long long)t, (long long)a, (long long)h->frames, (long long)h->video);
    h->inner = h->points * INNER / POINTS + (h->points < 3);
    place_points(h);
    add_arrays(h);
    layout_kernel(&h->layout, heartwall_kernel, "kernel", h->points, THREADS, 55, SHARED);
    h->layout.launches = (uint32_t)h->frames;
    set_phases(h->part, t, a);
    for (int mask = 0; mask < 2; mask++) {
        h->trips[mask] = mem_zalloc((size_t)outputs, sizeof **h->trips, err);
        for (int32_t e = 0; e < outputs && h->trips[mask]; e++)
            h->trips[mask][e] = trips_of(t, a, mask, e);
    }
    for (unsigned i = 0; i < PARTS && !rc && h->trips[0] && h->trips[1]; i++)
        rc = put_steps(h, &h->part[i], err);
    return h->trips[0] && h->trips[1] ? rc : -1;
}

RODINIA(heartwall, "heartwall", "heartwall",
        "points of a heart's wall followed through a video, as the F3FS artifact runs it", heartwall_close);
