/* rodinia-streamcluster: what opening a centre at point x would save, a thread for each point.
 *
 * n points of `dim` coordinates, stored coordinate by coordinate; K = `centres` open. A launch for each candidate x,
 * blocks of 512. Thread g < n:
 *     for d < dim: COORD[d n + g]; COORD[d n + x], the same for all
 *     P[g].weight; P[g].cost
 *     if it saves: store SW[g]; P[g].cost; WORK[g (K+1) + K]; store of the same
 *     else:        P[g].assign; TABLE[assign]; WORK[g (K+1) + TABLE]; store of the same
 * The loop stands four times in a turn. Arrays on 256 B from 0xC0000000 on: WORK of the first launch ((K+1)(n+1)
 * floats), TABLE, SW (a byte a point), P (32 B a point: weight at 0, assign, 8 B, at 16, cost at 24), COORD, then the
 * WORK of each later launch, as the program allocates it anew. The CPU has written TABLE, P and COORD.
 * The points are not there, so what depends on them is drawn: a lane saves with probability `saves`; points are
 * assigned to K centres drawn among the points (assign=centres), or to point 2654435761 g mod n with slot g mod K
 * (assign=all). The candidate of launch i is x + 40503 i mod n.
 * Worked example: n = 1024, dim = 16, K = 2, saves = 0: a warp loads 32 coordinates, weight, cost, assign, TABLE,
 * WORK.
 * Uses: COORD[d n + g] 2 instructions later, all else by the next; two instructions of arithmetic and two of
 * addresses for each d, two before other accesses: assumed. order=hoisted: the eight loads of a turn come first.
 * Source: Rodinia 3.1, cuda/streamcluster/streamcluster_cuda.cu (kernel_compute_cost, pgain); the F3FS artifact's
 * arguments (10 20 256 65536 65536 1000 none ..); registers, uses: PTX of nvcc 13.0 -O3 for compute capability 7.5.
 * Differs: `launches` candidates instead of as many as the search for a cost tries: a call of its local search makes
 * 5 kmax ln kmax = 299. `saves` is not calibrated. The copies of TABLE and P before each launch are left out. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/random.h"
#include "trace/workloads/rodinia/emit.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 512, UNROLL = 4, GUARD = 8, POINT = 32, STEP = 40503 };
enum { WORK, TABLE, SW, P, COORD, WORKS, ARRAYS };
enum { ASSIGN_CENTRES, ASSIGN_ALL };

struct streamcluster_params {
    int64_t n, dim, centres, launches, x, assign, seed, order, compute_ns;
    double saves;
};

struct streamcluster {
    struct streamcluster_params p;
    int64_t *centre; /* their points, drawn */
    struct program_alloc allocs[ARRAYS];
};

static const struct param streamcluster_params[] = {
    PARAM_INT_ROW(streamcluster_params, n, "", 1, 1 << 26, 65536, "points"),
    PARAM_INT_ROW(streamcluster_params, dim, "", 1, 1 << 14, 256, "coordinates of a point"),
    PARAM_INT_ROW(streamcluster_params, centres, "", 1, 1 << 12, 20, "open centres"),
    PARAM_INT_ROW(streamcluster_params, launches, "", 1, 1 << 20, 1, "candidates tried"),
    PARAM_INT_ROW(streamcluster_params, x, "", 0, 1 << 26, 0, "point of the first candidate"),
    PARAM_REAL_ROW(streamcluster_params, saves, "", 0, 1, 0.02, "share of points for which a candidate saves"),
    PARAM_CHOICE_ROW(streamcluster_params, assign, "centres|all", ASSIGN_CENTRES,
                     "points belong to centres, or to any"),
    PARAM_INT_ROW(streamcluster_params, seed, "", 0, 0x1p53, 1, "of what is drawn"),
    RODINIA_ORDER_ROW(streamcluster_params),
    PARAM_NS_AUTO_ROW(streamcluster_params, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
    {0}};

static void streamcluster_close(void *state)
{
    free(((struct streamcluster *)state)->centre);
    free(state);
}

/* Bytes of a launch's WORK, up to the next. */
static uint64_t work_bytes(const struct streamcluster_params *p)
{
    uint64_t bytes = (uint64_t)(p->centres + 1) * (uint64_t)(p->n + 1) * 4;
    return (bytes + RODINIA_ALIGN - 1) / RODINIA_ALIGN * RODINIA_ALIGN;
}

static void *streamcluster_open(const void *params, struct err *err)
{
    const struct streamcluster_params *p = params;
    struct streamcluster *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->centre = mem_zalloc((size_t)p->centres, sizeof *s->centre, err);
    if (!s->centre) {
        streamcluster_close(s);
        return NULL;
    }
    struct random r = {(uint64_t)p->seed};
    for (int64_t i = 0; i < p->centres; i++)
        s->centre[i] = random_below(&r, (uint32_t)p->n);
    uint64_t n = (uint64_t)p->n;
    const struct program_alloc arrays[ARRAYS] = {
        {.name = "work_mem", .bytes = work_bytes(p)},
        {.name = "center_table", .bytes = n * 4, .host = true},
        {.name = "switch_membership", .bytes = n},
        {.name = "points", .bytes = n * POINT, .host = true},
        {.name = "coord", .bytes = n * (uint64_t)p->dim * 4, .host = true},
        {.name = "later work_mem", .bytes = work_bytes(p) * (uint64_t)(p->launches - 1)}};
    for (unsigned i = 0; i < ARRAYS; i++)
        s->allocs[i] = arrays[i];
    program_place(s->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *streamcluster_allocs(const void *state, size_t *n)
{
    const struct streamcluster *s = state;
    *n = s->p.launches > 1 ? ARRAYS : WORKS;
    return s->allocs;
}

static uint32_t streamcluster_launches(const void *state)
{
    return (uint32_t)((const struct streamcluster *)state)->p.launches;
}

static void streamcluster_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct streamcluster *s = state;
    (void)launch;
    *out = (struct program_launch){.kernel = "kernel_compute_cost",
                                   .blocks = (uint64_t)(s->p.n + THREADS - 1) / THREADS,
                                   .threads = THREADS,
                                   .registers = 56};
}

/* Coordinates of the points from g on, and of x. */
static void distances(const struct streamcluster *s, const struct emit *e, int64_t g, int64_t x,
                      const struct program_part *part)
{
    for (uint32_t k = 0; k < part->trips; k++) {
        int64_t row = (int64_t)(part->first + k) * s->p.n, turn = (int64_t)part->trips * s->p.n * 4;
        emit_load(e, COORD, row + g, k ? 4 : 2, 2)->turn_stride = turn;
        emit_same(emit_load(e, COORD, row + x, 0, 1))->turn_stride = turn;
    }
    rodinia_order(e->body, 0, (enum rodinia_order)s->p.order);
    e->body->turns = part->turns;
    e->body->after = 2 + 3; /* the last arithmetic; count, compare, branch */
}

/* A field of the lanes' own points. */
static void field(const struct emit *e, int64_t g, unsigned offset, uint32_t bytes)
{
    struct program_access *a = emit_load(e, P, 0, 2, 1);
    a->addr += (uint64_t)g * POINT + offset;
    a->bytes = (uint16_t)bytes;
    a->lane_stride = POINT;
}

/* WORK[g (K+1) + slot]: load and store. */
static void add_to(const struct streamcluster *s, const struct emit *e, uint32_t launch, int64_t g, const int64_t *slot)
{
    unsigned array = launch ? WORKS : WORK;
    int64_t index[PROGRAM_LANES];
    for (int64_t l = 0; l < PROGRAM_LANES; l++)
        index[l] =
            (g + l) * (s->p.centres + 1) + slot[l] + (launch ? (int64_t)(work_bytes(&s->p) / 4 * (launch - 1)) : 0);
    (void)emit_gather(e, array, index, 2, 1);
    (void)emit_scatter(e, array, index, 1);
}

/* The lanes for which the candidate saves. */
static uint32_t saving(const struct streamcluster *s, uint32_t launch, int64_t g, uint32_t lanes)
{
    uint32_t mask = 0;
    for (; lanes; lanes &= lanes - 1) {
        int64_t l = __builtin_ctz(lanes);
        struct random r = {(uint64_t)s->p.seed + (uint64_t)((int64_t)(launch + 1) * s->p.n + g + l) * 0x9e3779b9u};
        mask |= (uint32_t)(random_chance(&r, s->p.saves) != 0) << l;
    }
    return mask;
}

static void costs(const struct streamcluster *s, struct emit *e, uint32_t launch, int64_t g)
{
    int64_t slot[PROGRAM_LANES], point[PROGRAM_LANES];
    uint32_t lanes = e->active, saves = saving(s, launch, g, lanes);
    field(e, g, 0, 4);
    field(e, g, 24, 4);
    e->active = saves;
    if (saves) {
        e->bytes = 1;
        (void)emit_store(e, SW, g, 2);
        e->bytes = 4;
        field(e, g, 24, 4);
        for (unsigned l = 0; l < PROGRAM_LANES; l++)
            slot[l] = s->p.centres;
        add_to(s, e, launch, g, slot);
    }
    e->active = lanes & ~saves;
    if (e->active) {
        for (int64_t l = 0; l < PROGRAM_LANES; l++) {
            struct random r = {(uint64_t)(g + l)};
            bool all = s->p.assign == ASSIGN_ALL;
            slot[l] = all ? (g + l) % s->p.centres : random_below(&r, (uint32_t)s->p.centres);
            point[l] = all ? (int64_t)((uint64_t)(g + l) * 2654435761u % (uint64_t)s->p.n) : s->centre[slot[l]];
        }
        field(e, g, 16, 8);
        (void)emit_gather(e, TABLE, point, 2, 1);
        add_to(s, e, launch, g, slot);
    }
    e->body->after = 1;
}

static int streamcluster_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                              struct err *err)
{
    const struct streamcluster *s = run;
    int64_t g = (int64_t)warp * PROGRAM_LANES, x = (s->p.x + (int64_t)launch * STEP) % s->p.n;
    (void)err;
    if (g >= s->p.n)
        return program_no_trip(index, GUARD, body);
    struct emit e = emit_to(body, s->allocs, program_first_lanes((uint64_t)(s->p.n - g)));
    struct program_loop loop = {.trips = (uint64_t)s->p.dim, .active = e.active, .unroll = UNROLL};
    struct program_part part;
    if (program_loop_part(&loop, index, &part)) {
        distances(s, &e, g, x, &part);
        return 1;
    }
    if (index > 0 && !program_loop_part(&loop, index - 1, &part))
        return 0;
    costs(s, &e, launch, g);
    return 1;
}

static const struct program_ops streamcluster_ops = {.allocs = streamcluster_allocs,
                                                     .launches = streamcluster_launches,
                                                     .launch = streamcluster_launch,
                                                     .body = streamcluster_body};

static int streamcluster_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&streamcluster_ops, state, ((const struct streamcluster *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_streamcluster = {
    .name = "rodinia-streamcluster",
    .summary = "gain of opening a cluster's centre, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/streamcluster",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = streamcluster_params,
    .params_size = sizeof(struct streamcluster_params),
    .open = streamcluster_open,
    .close = streamcluster_close,
    .program = streamcluster_program,
};
