/* rodinia-cfd: solver of the Euler equations over an unstructured mesh, 5 variables for each of n elements.
 *
 * N is n up to a multiple of 192; fields lie one after the other (f N + i). Launches: initialize three times; then,
 * `iterations` times, step factor and three times flux and time step.
 * The mesh is a stand-in, as the file was not at hand: neighbours of element i are p(i-1), p(i+1), p(i-x), p(i+x);
 * outside the mesh is far field, with nothing to load; p permutes the elements within windows of `window` (1: not at
 * all). Elements from n on have the last one's neighbours, as the program pads. How far a gather spreads is the one
 * free number: 1, 32 and 1024 give about 5, 6.5 and 29 sectors.
 * Worked example, n = 384, x = 16, window = 1: neighbours of 5: 4, 6, far field, 21; warp 0 loads neighbours -1 to 30
 * (31 lanes), 1 to 32, -16 to 15 (16 lanes), 16 to 47.
 * Defaults: 97046 elements (fvcorr.domn.097K), 10 iterations, where other copies of the program make 2000.
 * Source: Rodinia 3.1, cuda/cfd/euler3d.cu.
 * Differs: the mesh; copies of VAR to OLD within GPU memory are not made. */
#include <math.h>

#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 192, FIELDS = 5, NEIGHBOURS = 4, INITS = 3, STEPS = 7 /* launches of an iteration */ };
enum { FAR_FIELD = 54 /* instructions */ };
enum { AREA, NB, NORM, VAR, OLD, FLUX, STEP };
enum { INIT, FACTOR, FLUXES, TIME };

struct cfd {
    struct layout layout;
    int64_t n, iterations, x, window, seed;
    int64_t padded;
};

static const struct param cfd_keys[] = {
    PARAM_INT_ROW(cfd, n, "elements", 1, 178956864, 97046, "of the mesh"),
    PARAM_INT_ROW(cfd, iterations, "", 1, 1 << 20, 10, "of seven launches each"),
    PARAM_INT_ROW(cfd, x, "elements", 0, 1 << 24, 0, "to the far neighbours; 0: cube root of n"),
    PARAM_INT_ROW(cfd, window, "elements", 1, 1 << 24, 1, "within which neighbours are permuted; a power of two"),
    PARAM_INT_ROW(cfd, seed, "", 0, INT32_MAX, 1, "of the permutation"),
    RODINIA_KEYS("time of a body of a warp whose data is all at hand")};

/* --- the mesh --- */

/* Where place `at` of a window goes: rounds of multiplying, adding and folding, each one to one. */
static int64_t permuted(const struct cfd *s, uint64_t window, uint64_t at)
{
    struct random r = {(uint64_t)s->seed << 32 ^ window};
    unsigned bits = (unsigned)__builtin_ctzll((uint64_t)s->window); /* of a place */
    for (int round = 0; round < 3; round++) {
        at = (at * (random_next(&r) | 1) + random_next(&r)) & (uint64_t)(s->window - 1);
        at ^= at >> (bits + 1) / 2;
    }
    return (int64_t)at;
}

/* Neighbour j of an element; -1: far field. */
static int64_t neighbour(const struct cfd *s, int64_t element, unsigned j)
{
    int64_t apart = j < 2 ? 1 : s->x, i = (element < s->n ? element : s->n - 1) + (j % 2 ? apart : -apart);
    if (i < 0 || i >= s->n)
        return -1;
    int64_t first = i & ~(s->window - 1), at = i - first;
    if (s->window == 1)
        return i;
    do
        at = permuted(s, first, at);
    while (first + at >= s->n); /* the last window is no whole one */
    return first + at;
}

/* --- the kernels; blocks are whole warps, all of them full --- */

/* Field f of the element of lane 0. */
static int64_t own(const struct emit *e, unsigned f)
{
    return f * ((const struct cfd *)e->state)->padded + (int64_t)e->at.thread;
}

static int initialize_variables(struct emit *e)
{
    static const uint8_t array[INITS] = {VAR, OLD, FLUX}, before[FIELDS] = {8, 4, 5, 4, 2};
    for (unsigned f = 0; f < FIELDS; f++)
        emit_store(e, array[e->launch], own(e, f), before[f]);
    return emit_end(e, 1);
}

static int compute_step_factor(struct emit *e)
{
    static const uint8_t before[FIELDS] = {9, 3, 4, 3, 1}, use[FIELDS] = {16, 12, 8, 5, 10};
    for (unsigned f = 0; f < FIELDS; f++)
        emit_load(e, VAR, own(e, f), before[f], use[f]);
    emit_load(e, AREA, own(e, 0), 15, 1);
    emit_hoist(e, 0);
    emit_store(e, STEP, own(e, 0), 6);
    return emit_end(e, 1);
}

static int time_step(struct emit *e)
{
    static const uint8_t fields[FIELDS] = {0, 4, 1, 2, 3};
    emit_load(e, STEP, own(e, 0), 10, 4);
    for (unsigned k = 0, first = 0; k < FIELDS; k++, first = e->body->count) {
        emit_load(e, OLD, own(e, fields[k]), k ? 3 : 5, 3);
        emit_load(e, FLUX, own(e, fields[k]), 1, 1);
        emit_hoist(e, first);
        emit_store(e, VAR, own(e, fields[k]), 2);
    }
    return emit_end(e, 1);
}

/* The five fields of the lanes' elements, side by side from `first` on or, where `element` is given, anywhere. */
static void add_fields(const struct emit *e, int64_t first, const int64_t *element, unsigned before)
{
    static const uint8_t fields[FIELDS] = {1, 0, 2, 3, 4}, between[FIELDS] = {0, 0, 1, 1, 6};
    for (unsigned k = 0; k < FIELDS; k++) {
        int64_t field = fields[k] * ((const struct cfd *)e->state)->padded;
        unsigned since = k ? between[k] : before, use = k ? 1 : 2;
        if (element)
            emit_each(e, VAR, field, element, since, use);
        else
            emit_load(e, VAR, field + first, since, use);
    }
}

/* What neighbour j brings: its fields, where there is one. */
static int add_neighbour(struct emit *e, unsigned j)
{
    int64_t element[PROGRAM_LANES] = {0}, first = 0;
    uint32_t block = e->body->count;
    bool beside = true; /* all have the place that lane 0's gives them */
    e->active = 0;
    for (unsigned l = 0; l < PROGRAM_LANES; l++) {
        int64_t nb = neighbour(e->state, (int64_t)e->at.thread + l, j);
        if (nb < 0)
            continue;
        first = e->active ? first : nb - l;
        e->active |= 1u << l;
        element[l] = nb;
        beside &= nb == first + l;
    }
    bool some_far = e->active != UINT32_MAX;
    if (e->active)
        add_fields(e, first, beside ? NULL : element, (j ? 13u : 14u) + some_far);
    emit_hoist(e, block);
    return emit_end(e, (e->active ? 57u : 4u) + (some_far ? FAR_FIELD + (j ? 0 : 5) : 0));
}

/* A body for each neighbour, then the stores. */
static int compute_flux(struct emit *e)
{
    unsigned j = e->index;
    if (j > NEIGHBOURS)
        return 0;
    for (unsigned f = 0; f < FIELDS && j == NEIGHBOURS; f++)
        emit_store(e, FLUX, own(e, f), f ? 1 : 3);
    if (j == NEIGHBOURS)
        return emit_end(e, 1);
    if (j == 0)
        add_fields(e, own(e, 0), NULL, 22);
    emit_load(e, NB, own(e, j), j == 0 ? 17 : j == 3 ? 10 : 2, j ? 10 : 14);
    emit_load(e, NORM, own(e, j), j ? 3 : 7, 3);
    emit_load(e, NORM, own(e, j + 4), 0, 1);
    emit_load(e, NORM, own(e, j + 8), 2, 1);
    emit_hoist(e, 0);
    return add_neighbour(e, j);
}

static unsigned kernel_of(const void *state, uint32_t launch)
{
    uint32_t step = (launch - INITS) % STEPS;
    (void)state;
    return launch < INITS ? INIT : step == 0 ? FACTOR : step % 2 ? FLUXES : TIME;
}

/* An inner step does what the first of them did, and an iteration what the first did. */
static uint32_t like(const void *state, uint32_t launch)
{
    return launch < INITS ? launch : INITS - FACTOR + kernel_of(state, launch);
}

static int cfd_init(struct cfd *s, struct err *err)
{
    if (s->window & (s->window - 1))
        return err_set(err, "rodinia-cfd: window=%lld; expected a power of two", (long long)s->window);
    s->x = s->x ? s->x : lround(cbrt((double)s->n));
    uint64_t blocks = layout_blocks(s->n, THREADS), field = blocks * THREADS * 4;
    s->padded = blocks * THREADS;
    LAYOUT_ARRAYS(&s->layout, {"+areas", field}, {"+elements_surrounding", NEIGHBOURS * field},
                  {"+normals", UINT64_C(3) * NEIGHBOURS * field}, {"variables|old_variables|fluxes", FIELDS * field},
                  {"step_factors", field});
    layout_straight(&s->layout, initialize_variables, "cuda_initialize_variables", blocks, THREADS, 24, 0);
    layout_straight(&s->layout, compute_step_factor, "cuda_compute_step_factor", blocks, THREADS, 20, 0);
    layout_kernel(&s->layout, compute_flux, "cuda_compute_flux", blocks, THREADS, 58, 0);
    layout_straight(&s->layout, time_step, "cuda_time_step", blocks, THREADS, 26, 0);
    s->layout.kernel_of = kernel_of;
    s->layout.like = like;
    s->layout.launches = INITS + STEPS * (uint32_t)s->iterations;
    return 0;
}

RODINIA(cfd, "cfd", "cfd", "Euler equations over an unstructured mesh, five variables an element", free);
