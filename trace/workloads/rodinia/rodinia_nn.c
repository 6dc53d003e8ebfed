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

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 256, GUARD = 9, LOCATIONS = 0, DISTANCES = 1 };

struct nn_params {
    int64_t n, order, compute_ns;
};

struct nn {
    struct plan plan;
    uint64_t n;
};

static const struct param nn_params[] = {
    PARAM_INT_ROW(nn_params, n, "places", 1, INT32_MAX, 10000390, "each of two floats"),
    RODINIA_ORDER_ROW(nn_params),
    PARAM_NS_AUTO_ROW(nn_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static int euclid(struct emit *e)
{
    int64_t g = (int64_t)e->at.thread;
    emit_apart(emit_load(e, LOCATIONS, 2 * g, GUARD + 6, 1), 2);
    emit_apart(emit_load(e, LOCATIONS, 2 * g + 1, 1, 1), 2);
    emit_hoist(e, 0);
    emit_store(e, DISTANCES, g, 4); /* a root among the four instructions */
    return emit_end(e, 1);
}

static void *nn_open(const void *params, struct err *err)
{
    const struct nn_params *p = params;
    struct nn *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    s->n = (uint64_t)p->n;
    plan_input(&s->plan, "locations", s->n * 8);
    plan_array(&s->plan, "distances", s->n * 4);
    plan_straight(&s->plan, euclid, "euclid", plan_blocks(s->n, THREADS), THREADS, 12, 0);
    plan_guard(&s->plan, s->n, GUARD + 1);
    return s;
}

const struct workload_type workload_rodinia_nn = {
    .name = "rodinia-nn",
    .summary = "distance of each of n places to a point, one kernel",
    .source = "Rodinia 3.1 cuda/nn",
    WORKLOAD_WITH_KEYS(nn),
    .close = free,
    .program = plan_program,
};
