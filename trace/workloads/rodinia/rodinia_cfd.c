/* rodinia-cfd: Rodinia's solver of the Euler equations over an unstructured mesh, 5 variables for each of n elements.
 *
 * With N = n up to a multiple of 192, i = thread, fields one after the other (f N + i):
 *     initialize_variables (VAR, OLD, FLUX): store 5 fields
 *     compute_step_factor:  VAR, 5 fields; AREA; store STEP
 *     compute_flux:         VAR, 5 fields; for each of 4 neighbours j: NB[j]; NORM[j], [j+4], [j+8]; if it is one, 5
 *                           fields of its VAR; store FLUX, 5 fields
 *     time_step:            STEP; for each of 5 fields: OLD, FLUX, store VAR
 * Launches: initialize three times; then, `iterations` times, step factor and three times flux and time step. Arrays,
 * from 0xC0000000 on: AREA (N floats), NB (4N ints), NORM (12N), VAR, OLD, FLUX (5N each), STEP (N); the first three
 * are copied in.
 *
 * The mesh is a stand-in, as the file was not at hand (parts/cfd_mesh.h).
 * Worked example, n = 384, x = 16, window = 1: warp 0 loads neighbours -1 to 30 (31 lanes), 1 to 32, -16 to 15 (16
 * lanes), 16 to 47.
 * Defaults: 97046 elements (fvcorr.domn.097K: the count of the usual file, which was not at hand) and 10 iterations,
 * where other copies of the program make 2000: gupta-2025-f3fs.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers: the same compiler.
 * order=hoisted: the loads up to the next branch or store, then their uses.
 * Source: Rodinia 3.1, cuda/cfd/euler3d.cu.
 * Differs: the mesh; copies of VAR to OLD within GPU memory are not made. */
#include <math.h>
#include <stdlib.h>

#include "trace/workloads/rodinia/parts/cfd_mesh.h"
#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 192, FIELDS = 5, NEIGHBOURS = CFD_NEIGHBOURS, INITS = 3, STEPS = 7 /* launches of an iteration */ };
enum { FAR_FIELD = 54 /* instructions */ };
enum { AREA, NB, NORM, VAR, OLD, FLUX, STEP };
enum { INIT, FACTOR, FLUXES, TIME };

struct cfd_params {
    int64_t n, iterations, x, window, seed, order, compute_ns;
};

struct cfd {
    struct plan plan;
    struct cfd_mesh mesh;
    int64_t padded;
};

static const struct param cfd_params[] = {
    PARAM_INT_ROW(cfd_params, n, "elements", 1, 178956864, 97046, "of the mesh"),
    PARAM_INT_ROW(cfd_params, iterations, "", 1, 1 << 20, 10, "of seven launches each"),
    PARAM_INT_ROW(cfd_params, x, "elements", 0, 1 << 24, 0, "to the far neighbours; 0: cube root of n"),
    PARAM_INT_ROW(cfd_params, window, "elements", 1, 1 << 24, 1,
                  "within which neighbours are permuted; a power of two"),
    PARAM_INT_ROW(cfd_params, seed, "", 0, INT32_MAX, 1, "of the permutation"),
    RODINIA_ORDER_ROW(cfd_params),
    PARAM_NS_AUTO_ROW(cfd_params, compute_ns, 0, 1e9, "time of a body of a warp whose data is all at hand"),
    {0}};

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
        int64_t field = fields[k] * ((const struct cfd *)e->state)->padded + (element ? 0 : first);
        unsigned since = k ? between[k] : before, use = k ? 1 : 2;
        if (element)
            emit_each(e, VAR, field, element, since, use);
        else
            emit_load(e, VAR, field, since, use);
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
        int64_t nb = cfd_neighbour(&((const struct cfd *)e->state)->mesh, (int64_t)e->at.thread + l, j);
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
    if (j == 0)
        add_fields(e, own(e, 0), NULL, 22);
    if (j < NEIGHBOURS) {
        emit_load(e, NB, own(e, j), j == 0 ? 17 : j == 3 ? 10 : 2, j ? 10 : 14);
        emit_load(e, NORM, own(e, j), j ? 3 : 7, 3);
        emit_load(e, NORM, own(e, j + 4), 0, 1);
        emit_load(e, NORM, own(e, j + 8), 2, 1);
        emit_hoist(e, 0);
        return add_neighbour(e, j);
    }
    if (j > NEIGHBOURS)
        return 0;
    for (unsigned f = 0; f < FIELDS; f++)
        emit_store(e, FLUX, own(e, f), f ? 1 : 3);
    return emit_end(e, 1);
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
    uint32_t step = (launch - INITS) % STEPS;
    (void)state;
    return launch < INITS ? launch : INITS + (step == 0 ? 0 : step % 2 ? 1 : 2);
}

static void *cfd_open(const void *params, struct err *err)
{
    const struct cfd_params *p = params;
    if (p->window & (p->window - 1)) {
        err_set(err, "rodinia-cfd: window=%lld; expected a power of two", (long long)p->window);
        return NULL;
    }
    struct cfd *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    s->mesh = (struct cfd_mesh){p->n, p->x ? p->x : lround(cbrt((double)p->n)), p->window, (uint32_t)p->seed};
    s->padded = (p->n + THREADS - 1) / THREADS * THREADS;
    uint64_t field = (uint64_t)s->padded * 4, blocks = (uint64_t)s->padded / THREADS;
    plan_input(&s->plan, "areas", field);
    plan_input(&s->plan, "elements_surrounding", NEIGHBOURS * field);
    plan_input(&s->plan, "normals", 3 * NEIGHBOURS * field);
    plan_array(&s->plan, "variables", FIELDS * field);
    plan_array(&s->plan, "old_variables", FIELDS * field);
    plan_array(&s->plan, "fluxes", FIELDS * field);
    plan_array(&s->plan, "step_factors", field);
    plan_straight(&s->plan, initialize_variables, "cuda_initialize_variables", blocks, THREADS, 24, 0);
    plan_straight(&s->plan, compute_step_factor, "cuda_compute_step_factor", blocks, THREADS, 20, 0);
    plan_kernel(&s->plan, compute_flux, "cuda_compute_flux", blocks, THREADS, 58, 0);
    plan_straight(&s->plan, time_step, "cuda_time_step", blocks, THREADS, 26, 0);
    s->plan.kernel_of = kernel_of;
    s->plan.like = like;
    s->plan.launches = INITS + STEPS * (uint32_t)p->iterations;
    return s;
}

const struct workload_type workload_rodinia_cfd = {
    .name = "rodinia-cfd",
    .summary = "Euler equations over an unstructured mesh, five variables an element",
    .source = "Rodinia 3.1 cuda/cfd",
    WORKLOAD_WITH_KEYS(cfd),
    .close = free,
    .program = plan_program,
};
