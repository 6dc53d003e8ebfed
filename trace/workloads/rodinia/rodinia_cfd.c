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
 * The mesh is a stand-in, as the file was not at hand: neighbours of i are p(i-1), p(i+1), p(i-x), p(i+x), x the cube
 * root of n; outside the mesh is far field, with nothing to load; p permutes the elements within windows of `window`
 * (1: not at all). Elements from n on have the last one's neighbours, as the program pads. How far a gather spreads is
 * the one free number here: 1, 32 and 1024 give about 5, 6.5 and 29 sectors.
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

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/random.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"

enum { BLOCK = 192, FIELDS = 5, NEIGHBOURS = 4, INITS = 3, STEPS = 7 /* launches of an iteration */ };
enum { FAR_FIELD = 54 /* instructions */ };
enum { AREA, NB, NORM, VAR, OLD, FLUX, STEP, ARRAYS };
enum kernel { INIT, FACTOR, FLUXES, TIME };

struct cfd_params {
    int64_t n, iterations, x, window, seed, order, compute_ns;
};

struct cfd {
    uint64_t n, padded, x, window;
    unsigned bits; /* of a place in a window */
    struct cfd_params p;
    struct program_alloc allocs[ARRAYS];
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

static void *cfd_open(const void *params, struct err *err)
{
    const struct cfd_params *p = params;
    if (p->window & (p->window - 1)) {
        err_set(err, "rodinia-cfd: window=%lld; expected a power of two", (long long)p->window);
        return NULL;
    }
    struct cfd *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->n = (uint64_t)p->n;
    s->padded = (s->n + BLOCK - 1) / BLOCK * BLOCK;
    s->x = p->x ? (uint64_t)p->x : (uint64_t)lround(cbrt((double)p->n));
    s->window = (uint64_t)p->window;
    s->bits = (unsigned)__builtin_ctzll(s->window);
    uint64_t field = s->padded * 4;
    const struct program_alloc allocs[ARRAYS] = {
        [AREA] = {.name = "areas", .bytes = field, .host = true},
        [NB] = {.name = "elements_surrounding", .bytes = NEIGHBOURS * field, .host = true},
        [NORM] = {.name = "normals", .bytes = 3 * NEIGHBOURS * field, .host = true},
        [VAR] = {.name = "variables", .bytes = FIELDS * field},
        [OLD] = {.name = "old_variables", .bytes = FIELDS * field},
        [FLUX] = {.name = "fluxes", .bytes = FIELDS * field},
        [STEP] = {.name = "step_factors", .bytes = field},
    };
    for (unsigned i = 0; i < ARRAYS; i++)
        s->allocs[i] = allocs[i];
    program_place(s->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *cfd_allocs(const void *state, size_t *n)
{
    *n = ARRAYS;
    return ((const struct cfd *)state)->allocs;
}

static uint32_t cfd_launches(const void *state)
{
    return INITS + STEPS * (uint32_t)((const struct cfd *)state)->p.iterations;
}

static enum kernel kernel_of(uint32_t launch)
{
    uint32_t step = (launch - INITS) % STEPS;
    return launch < INITS ? INIT : step == 0 ? FACTOR : step % 2 ? FLUXES : TIME;
}

static void cfd_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    static const char *const names[] = {"cuda_initialize_variables", "cuda_compute_step_factor", "cuda_compute_flux",
                                        "cuda_time_step"};
    static const uint32_t registers[] = {24, 20, 58, 26};
    const struct cfd *s = state;
    *out = (struct program_launch){.kernel = names[kernel_of(launch)],
                                   .blocks = s->padded / BLOCK,
                                   .threads = BLOCK,
                                   .registers = registers[kernel_of(launch)]};
}

/* --- the mesh --- */

/* Where place `at` of a window goes: rounds of multiplying, adding and folding, each one to one. */
static uint64_t permuted(const struct cfd *s, uint64_t window, uint64_t at)
{
    struct random r = {(uint64_t)s->p.seed << 32 ^ window};
    for (int round = 0; round < 3; round++) {
        at = (at * (random_next(&r) | 1) + random_next(&r)) & (s->window - 1);
        at ^= at >> (s->bits + 1) / 2;
    }
    return at;
}

/* Neighbour j of an element; -1: far field. */
static int64_t neighbour(const struct cfd *s, uint64_t element, unsigned j)
{
    uint64_t i = element < s->n ? element : s->n - 1, apart = j < 2 ? 1 : s->x;
    if (j % 2 ? i + apart >= s->n : i < apart)
        return -1;
    i = j % 2 ? i + apart : i - apart;
    uint64_t first = i & ~(s->window - 1), at = i - first;
    if (s->window == 1)
        return (int64_t)i;
    do
        at = permuted(s, first, at);
    while (first + at >= s->n); /* the last window is no whole one */
    return (int64_t)(first + at);
}

/* --- accesses --- */

static struct program_access *add(const struct cfd *s, struct program_body *body, unsigned array, unsigned field,
                                  uint64_t i, uint16_t before, uint16_t use)
{
    struct program_access *a = program_load(body, s->allocs, array, (field * s->padded + i) * 4, 4);
    a->before = before;
    a->use = use;
    return a;
}

static void add_store(const struct cfd *s, struct program_body *body, unsigned array, unsigned field, uint64_t i,
                      uint16_t before)
{
    add(s, body, array, field, i, before, 0)->kind = RECORD_WRITE;
}

/* The loads since `first` are a basic block's. */
static void end_block(const struct cfd *s, struct program_body *body, uint32_t first)
{
    rodinia_order(body, first, (enum rodinia_order)s->p.order);
}

static void init(const struct cfd *s, unsigned array, uint64_t i, struct program_body *body)
{
    static const uint8_t before[FIELDS] = {8, 4, 5, 4, 2};
    for (unsigned f = 0; f < FIELDS; f++)
        add_store(s, body, array, f, i, before[f]);
    body->after = 1;
}

static void factor(const struct cfd *s, uint64_t i, struct program_body *body)
{
    static const uint8_t before[FIELDS] = {9, 3, 4, 3, 1}, use[FIELDS] = {16, 12, 8, 5, 10};
    for (unsigned f = 0; f < FIELDS; f++)
        (void)add(s, body, VAR, f, i, before[f], use[f]);
    (void)add(s, body, AREA, 0, i, 15, 1);
    end_block(s, body, 0);
    add_store(s, body, STEP, 0, i, 6);
    body->after = 1;
}

static void time_step(const struct cfd *s, uint64_t i, struct program_body *body)
{
    static const uint8_t fields[FIELDS] = {0, 4, 1, 2, 3};
    (void)add(s, body, STEP, 0, i, 10, 4);
    for (unsigned k = 0, first = 0; k < FIELDS; k++, first = body->count) {
        (void)add(s, body, OLD, fields[k], i, k ? 3 : 5, 3);
        (void)add(s, body, FLUX, fields[k], i, 1, 1);
        end_block(s, body, first);
        add_store(s, body, VAR, fields[k], i, 2);
    }
    body->after = 1;
}

/* The five fields of elements that lie side by side or, where `lane` is given, anywhere. */
static void add_fields(const struct cfd *s, const uint64_t *lane, uint64_t i, uint32_t active, uint16_t before,
                       struct program_body *body)
{
    static const uint8_t fields[FIELDS] = {1, 0, 2, 3, 4}, between[FIELDS] = {0, 0, 1, 1, 6};
    for (unsigned k = 0; k < FIELDS; k++) {
        struct program_access *a = add(s, body, VAR, fields[k], lane ? 0 : i, k ? between[k] : before, k ? 1 : 2);
        a->active = active;
        uint64_t *byte = lane ? program_scatter(body, a) : NULL;
        for (unsigned l = 0; lane && l < PROGRAM_LANES; l++)
            byte[l] = a->addr + lane[l] * 4;
    }
}

/* What neighbour j brings: its fields, where there is one. */
static void add_neighbour(const struct cfd *s, uint64_t i, unsigned j, struct program_body *body)
{
    uint64_t lane[PROGRAM_LANES], first = 0;
    uint32_t active = 0, block = body->count;
    bool beside = true; /* all have the place that lane 0's gives them */
    for (unsigned l = 0; l < PROGRAM_LANES; l++) {
        int64_t nb = neighbour(s, i + l, j);
        lane[l] = nb < 0 ? 0 : (uint64_t)nb;
        active |= nb < 0 ? 0 : 1u << l;
        first = nb >= 0 && active == 1u << l ? (uint64_t)nb - l : first;
        beside &= nb < 0 || (uint64_t)nb == first + l;
    }
    bool some_far = active != 0xffffffff;
    if (active)
        add_fields(s, beside ? NULL : lane, first, active, (uint16_t)((j ? 13 : 14) + some_far), body);
    end_block(s, body, block);
    body->after = (active ? 57u : 4u) + (some_far ? FAR_FIELD + (j ? 0 : 5) : 0);
}

static void flux(const struct cfd *s, uint64_t i, unsigned j, struct program_body *body)
{
    if (j == 0)
        add_fields(s, NULL, i, 0xffffffff, 22, body);
    (void)add(s, body, NB, j, i, j == 0 ? 17 : j == 3 ? 10 : 2, j ? 10 : 14);
    (void)add(s, body, NORM, j, i, j ? 3 : 7, 3);
    (void)add(s, body, NORM, j + 4, i, 0, 1);
    (void)add(s, body, NORM, j + 8, i, 2, 1);
    end_block(s, body, 0);
    add_neighbour(s, i, j, body);
}

static int cfd_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                    struct err *err)
{
    static const uint8_t initialised[INITS] = {VAR, OLD, FLUX};
    const struct cfd *s = run;
    uint64_t i = warp * PROGRAM_LANES; /* of lane 0: blocks are whole warps, all of them full */
    enum kernel kernel = kernel_of(launch);
    (void)err;
    if (index > (kernel == FLUXES ? NEIGHBOURS : 0))
        return 0;
    if (kernel == INIT)
        init(s, initialised[launch], i, body);
    else if (kernel == FACTOR)
        factor(s, i, body);
    else if (kernel == TIME)
        time_step(s, i, body);
    else if (index < NEIGHBOURS)
        flux(s, i, index, body);
    else {
        for (unsigned f = 0; f < FIELDS; f++)
            add_store(s, body, FLUX, f, i, f ? 1 : 3);
        body->after = 1;
    }
    return 1;
}

static const struct program_ops cfd_ops = {
    .allocs = cfd_allocs, .launches = cfd_launches, .launch = cfd_launch, .body = cfd_body};

static int cfd_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&cfd_ops, state, ((const struct cfd *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_cfd = {
    .name = "rodinia-cfd",
    .summary = "Euler equations over an unstructured mesh, five variables an element",
    .source = "Rodinia 3.1 cuda/cfd",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = cfd_params,
    .params_size = sizeof(struct cfd_params),
    .open = cfd_open,
    .close = free,
    .program = cfd_program,
};
