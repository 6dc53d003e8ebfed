/* rodinia-kmeans: Rodinia's k-means, n points of `features` floats: turned round once, then the nearest of `clusters`
 * centres of each, `iterations` times.
 *
 *     invert_mapping: if (g < n) for (i < features) FEAT[n i + g] = IN[features g + i]
 *     kmeansPoint:    if (g < n) { for (k < clusters) for (j < features) FEAT[n j + g], less a centre's feature,
 *                                  squared; MEM[g] = the nearest k }
 *
 * Both inner loops are unrolled by four; the centres are in constant memory, which is no memory traffic. Arrays, from
 * 0xC0000000 on: IN (point after point), FEAT (feature after feature), MEM (n ints); IN and MEM are copied in (MEM
 * before each launch). Blocks of 256 threads, the next square of what n needs: 44 x 44 for 1930.
 * Worked example, n = 500, features = 34: 4 blocks, of which 2 have points; a warp's load of IN covers 32 lines, 136 B
 * apart, its store to FEAT 128 B side by side, from a multiple of 16 B on.
 * Defaults: kdd_cup as gupta-2025-f3fs runs it; how many launches move fewer than a thousandth of the points is not
 * known, so the six that the program makes at most.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers: the same compiler.
 * Texture fetches are read-only loads. order=hoisted: the four loads of a turn of kmeansPoint, then their uses; in
 * invert_mapping a store may write what the next load reads, so nothing moves.
 * Source: Rodinia 3.1, cuda/kmeans/kmeans_cuda.cu, kmeans_cuda_kernel.cu.
 * Differs: textures have no cache of their own. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"

enum { BLOCK = 256, UNROLL = 4, REGISTERS = 30, CONSTANTS = 32 * 34, IN = 0, FEAT = 1, MEM = 2 };

struct kmeans_params {
    int64_t n, features, clusters, iterations, order, compute_ns;
};

struct kmeans {
    uint64_t n, features;
    struct kmeans_params p;
    struct program_alloc allocs[3];
};

static const struct param kmeans_params[] = {
    PARAM_INT_ROW(kmeans_params, n, "points", 1, INT32_MAX, 494020, "n x features below 2^31"),
    PARAM_INT_ROW(kmeans_params, features, "", 1, CONSTANTS, 34, "floats of a point"),
    PARAM_INT_ROW(kmeans_params, clusters, "", 1, CONSTANTS, 5, "centres; clusters x features at most 1088"),
    PARAM_INT_ROW(kmeans_params, iterations, "", 1, 1 << 20, 6, "launches of kmeansPoint"),
    RODINIA_ORDER_ROW(kmeans_params),
    PARAM_NS_AUTO_ROW(kmeans_params, compute_ns, 0, 1e9, "time of a turn of a warp whose data is all at hand"),
    {0}};

static int check(const struct kmeans_params *p, struct err *err)
{
    if (p->n * p->features > INT32_MAX)
        return err_set(err, "rodinia-kmeans: %lld x %lld floats; the kernel counts them in an int", (long long)p->n,
                       (long long)p->features);
    if (p->clusters * p->features > CONSTANTS)
        return err_set(err, "rodinia-kmeans: %lld centres of %lld floats; constant memory holds %d floats",
                       (long long)p->clusters, (long long)p->features, CONSTANTS);
    return 0;
}

static void *kmeans_open(const void *params, struct err *err)
{
    struct kmeans *s = check(params, err) ? NULL : mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *(const struct kmeans_params *)params;
    s->n = (uint64_t)s->p.n;
    s->features = (uint64_t)s->p.features;
    uint64_t bytes = s->n * s->features * 4;
    s->allocs[IN] = (struct program_alloc){.name = "feature_flipped", .bytes = bytes, .host = true};
    s->allocs[FEAT] = (struct program_alloc){.name = "feature", .bytes = bytes};
    s->allocs[MEM] = (struct program_alloc){.name = "membership", .bytes = s->n * 4, .host = true};
    program_place(s->allocs, 3, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *kmeans_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct kmeans *)state)->allocs;
}

static uint32_t kmeans_launches(const void *state)
{
    return 1 + (uint32_t)((const struct kmeans *)state)->p.iterations;
}

static void kmeans_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct kmeans *s = state;
    uint64_t side = 1;
    while (side * side < (s->n + BLOCK - 1) / BLOCK)
        side++;
    *out = (struct program_launch){.kernel = launch ? "kmeansPoint" : "invert_mapping",
                                   .blocks = side * side,
                                   .threads = BLOCK,
                                   .registers = REGISTERS};
}

/* Feature i of the warp's points: point after point, or side by side. */
static struct program_access *add(const struct kmeans *s, struct program_body *body, unsigned array, uint64_t g,
                                  uint64_t i, uint16_t before, uint16_t use)
{
    uint64_t element = array == IN ? s->features * g + i : s->n * i + g;
    struct program_access *a = program_load(body, s->allocs, array, element * 4, 4);
    if (array == IN)
        a->lane_stride = (int64_t)s->features * 4;
    a->active = program_first_lanes(s->n - g);
    a->before = before;
    a->use = use;
    return a;
}

static int invert(const struct kmeans *s, uint64_t g, uint32_t index, struct program_body *body)
{
    static const uint16_t use[UNROLL] = {1, 2, 2, 3};
    struct program_loop loop = {.trips = s->features, .active = program_first_lanes(s->n - g), .unroll = UNROLL};
    struct program_part part;
    if (index == 0) {
        body->after = 15 + (loop.trips >= UNROLL ? 8 : 0) + 2 + (loop.trips % UNROLL ? 7 : 0) + 1;
        return 1;
    }
    if (!program_loop_part(&loop, index - 1, &part))
        return 0;
    for (uint32_t k = 0; k < part.trips; k++) {
        uint16_t before = k == 0 && part.trips == UNROLL;
        add(s, body, IN, g, part.first + k, before, use[k])->turn_stride = 4 * part.trips;
        struct program_access *store = add(s, body, FEAT, g, part.first + k, use[k] - 1, 0);
        store->kind = RECORD_WRITE;
        store->turn_stride = (int64_t)(4 * s->n * part.trips);
    }
    body->turns = part.turns;
    body->after = 5;
    return 1;
}

/* Trips that are left over: branches between them. */
static void add_rest(const struct kmeans *s, uint64_t g, struct program_body *body)
{
    static const uint16_t before[] = {6, 11, 7}, use[] = {5, 2, 2}, after[] = {2, 7, 4, 3};
    uint64_t rest = s->features % UNROLL;
    for (uint64_t k = 0; k < rest; k++)
        (void)add(s, body, FEAT, g, s->features - rest + k, before[k], use[k]);
    body->after = 19 + after[rest]; /* to the next centre */
}

static int point(const struct kmeans *s, uint64_t g, uint32_t index, struct program_body *body)
{
    uint64_t turns = s->features / UNROLL, each = turns ? 2 : 1, parts = each * (uint64_t)s->p.clusters;
    if (index > parts + 1)
        return 0;
    if (index == 0) {
        body->after = 36;
    } else if (index > parts) {
        struct program_access *store = program_store(body, s->allocs, MEM, g * 4, 4);
        store->active = program_first_lanes(s->n - g);
        store->before = 3;
        body->after = 1;
    } else if (index % each) {
        for (uint64_t j = 0; j < UNROLL; j++)
            add(s, body, FEAT, g, j, j ? 4 : 2, 2)->turn_stride = (int64_t)(4 * s->n * UNROLL);
        rodinia_order(body, 0, (enum rodinia_order)s->p.order);
        body->turns = turns;
        body->after = 9;
    } else {
        add_rest(s, g, body);
    }
    return 1;
}

static int kmeans_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                       struct err *err)
{
    const struct kmeans *s = run;
    uint64_t g = warp * PROGRAM_LANES; /* of lane 0: blocks are whole warps */
    (void)err;
    if (g >= s->n)
        return program_no_trip(index, launch ? 12 : 11, body);
    return (launch ? point : invert)(s, g, index, body);
}

static const struct program_ops kmeans_ops = {
    .allocs = kmeans_allocs, .launches = kmeans_launches, .launch = kmeans_launch, .body = kmeans_body};

static int kmeans_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&kmeans_ops, state, ((const struct kmeans *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_kmeans = {
    .name = "rodinia-kmeans",
    .summary = "k-means: points turned round, then the nearest centre of each",
    .source = "Rodinia 3.1 cuda/kmeans",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = kmeans_params,
    .params_size = sizeof(struct kmeans_params),
    .open = kmeans_open,
    .close = free,
    .program = kmeans_program,
};
