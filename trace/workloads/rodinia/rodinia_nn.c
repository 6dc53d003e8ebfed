/* rodinia-nn: nearest neighbours of Rodinia, the distance of n places to one point, one kernel.
 *
 *     if (g < n) distance[g] = sqrt((lat - place[g].lat)^2 + (lng - place[g].lng)^2)
 *
 * A place is two floats, so each of the two loads of a warp covers the same 256 bytes. Arrays, from 0xC0000000 on:
 * locations (2n floats, copied in), distances (n floats). Blocks of 256 threads in x. n = 10,000,390: the paper's table
 * prints 100000390, but the input files are named cane9766k_10_*.db, and 9766 x 1024 is 10,000,384.
 * Worked example, n = 40: warp 0 loads bytes 0 to 251 and 4 to 255 and stores 128 bytes; lanes 0 to 7 of warp 1 do the
 * rest; warps 2 to 7 only find that they have nothing to do.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers: the same compiler.
 * order=ptx: the first value is used before the second is loaded; order=hoisted: both loads, then their uses.
 * Source: Rodinia 3.1, cuda/nn/nn_cuda.cu (euclid), as gupta-2025-f3fs runs it (n).
 * Differs: nothing known. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"

enum { BLOCK = 256, REGISTERS = 12, GUARD = 9, LOCATIONS = 0, DISTANCES = 1 };

struct nn_params {
    int64_t n, order, compute_ns;
};

struct nn {
    struct nn_params p;
    struct program_alloc allocs[2];
};

static const struct param nn_params[] = {
    PARAM_INT_ROW(nn_params, n, "places", 1, INT32_MAX, 10000390, "each of two floats"),
    RODINIA_ORDER_ROW(nn_params),
    PARAM_NS_AUTO_ROW(nn_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *nn_open(const void *params, struct err *err)
{
    struct nn *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *(const struct nn_params *)params;
    s->allocs[LOCATIONS] = (struct program_alloc){.name = "locations", .bytes = (uint64_t)s->p.n * 8, .host = true};
    s->allocs[DISTANCES] = (struct program_alloc){.name = "distances", .bytes = (uint64_t)s->p.n * 4};
    program_place(s->allocs, 2, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *nn_allocs(const void *state, size_t *n)
{
    *n = 2;
    return ((const struct nn *)state)->allocs;
}

static uint32_t nn_launches(const void *state)
{
    (void)state;
    return 1;
}

static void nn_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct nn *s = state;
    (void)launch;
    *out = (struct program_launch){
        .kernel = "euclid", .blocks = ((uint64_t)s->p.n + BLOCK - 1) / BLOCK, .threads = BLOCK, .registers = REGISTERS};
}

static int nn_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                   struct err *err)
{
    const struct nn *s = run;
    uint64_t g = warp * PROGRAM_LANES, n = (uint64_t)s->p.n; /* of lane 0: blocks are whole warps */
    (void)launch;
    (void)err;
    if (g >= n)
        return program_no_trip(index, GUARD + 1, body);
    if (index > 0)
        return 0;
    struct program_access *lat = program_load(body, s->allocs, LOCATIONS, g * 8, 4);
    struct program_access *lng = program_load(body, s->allocs, LOCATIONS, g * 8 + 4, 4);
    lat->lane_stride = lng->lane_stride = 8;
    lat->before = GUARD + 6;
    lng->before = 1;
    rodinia_order(body, 0, (enum rodinia_order)s->p.order);
    struct program_access *store = program_store(body, s->allocs, DISTANCES, g * 4, 4);
    lat->active = lng->active = store->active = program_first_lanes(n - g);
    store->before = 4; /* a root among them */
    body->after = 1;
    return 1;
}

static const struct program_ops nn_ops = {
    .allocs = nn_allocs, .launches = nn_launches, .launch = nn_launch, .body = nn_body};

static int nn_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&nn_ops, state, ((const struct nn *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_nn = {
    .name = "rodinia-nn",
    .summary = "distance of each of n places to a point, one kernel",
    .source = "Rodinia 3.1 cuda/nn",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = nn_params,
    .params_size = sizeof(struct nn_params),
    .open = nn_open,
    .close = free,
    .program = nn_program,
};
