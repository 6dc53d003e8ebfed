/* bicg: the two matrix-vector products of PolyBench-ACC's BiCG, s = A^T r and q = A p, N x N floats.
 *
 *     kernel 1, thread j: for (i = 0; i < N; i++) sum += A[i][j] r[i];  s[j] = sum
 *     kernel 2, thread i: for (j = 0; j < N; j++) sum += A[i][j] p[j];  q[i] = sum
 *
 * Arrays: A, r, p, written by the CPU; s, q, never touched by it. Blocks of 256 threads, as many as cover N. Unrolled:
 * the loads of `unroll` trips are issued together (A and r, A and r, ...), then added up; trips left over come one by
 * one; the store comes last. In kernel 1 a load of A is 128 B of a row, in kernel 2 a column of 32 rows; r and p are
 * the same for all lanes. N = sqrt(bytes / 4) down to a multiple of 1,024 (a row is whole pages), or `n`. kernel=1 or 2
 * runs one alone.
 * Instructions, order, registers: after the machine code that nvcc 13.0 -O3 makes for sm_90 of
 * fixtures/cuda/kernels.cu: a turn of four trips is 30 (kernel 1) and 23 (kernel 2) instructions; what comes before the
 * loop, 40, is counted with the store.
 * Source: PolyBench-ACC, CUDA/linear-algebra/kernels/bicg/bicg.cu, written anew in fixtures/cuda/kernels.cu; four rows
 * at once and one store: measured: H200, driver 580.159.04, 2026-11.
 * Differs: the benchmark adds up in memory where its compiler cannot tell the arrays apart. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/polybench/suite.h"

enum { BLOCK = 256, UNROLL_MOST = 16, ONCE = 43, GUARD = 10, A = 0, R = 1, S = 2, P = 3, Q = 4, ALLOCS = 5 };

struct bicg_params {
    int64_t bytes, n, kernel, unroll, compute_ns;
};

struct bicg {
    uint64_t n;
    uint32_t kernel; /* 0: both */
    uint32_t unroll;
    int64_t compute_ns;
    struct program_alloc allocs[ALLOCS];
};

static const struct param bicg_params[] = {
    PARAM_BYTES_ROW(bicg_params, bytes, 1 << 22, 0x1p38, 0x1p33, "the matrix"),
    PARAM_INT_ROW(bicg_params, n, "", 0, 1 << 18, 0, "rows and columns; 0: as many as `bytes` holds"),
    PARAM_INT_ROW(bicg_params, kernel, "", 0, 2, 0, "1: s = A^T r alone; 2: q = A p alone; 0: both"),
    PARAM_INT_ROW(bicg_params, unroll, "", 1, UNROLL_MOST, 4, "trips whose loads are issued together"),
    PARAM_NS_AUTO_ROW(bicg_params, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
    {0}};

static void *bicg_open(const void *params, struct err *err)
{
    static const char names[] = "Arspq";
    const struct bicg_params *p = params;
    uint64_t n = p->n ? (uint64_t)p->n : (uint64_t)sqrt((double)p->bytes / 4) / 1024 * 1024;
    struct bicg *b = mem_zalloc(1, sizeof *b, err);
    if (!b)
        return NULL;
    b->n = n;
    b->kernel = (uint32_t)p->kernel;
    b->unroll = (uint32_t)p->unroll;
    b->compute_ns = p->compute_ns;
    for (int i = 0; i < ALLOCS; i++)
        b->allocs[i] = (struct program_alloc){
            .name = {names[i]}, .bytes = i == A ? n * n * 4 : n * 4, .host = i == A || i == R || i == P};
    program_place(b->allocs, ALLOCS, 0, 0);
    return b;
}

static const struct program_alloc *bicg_allocs(const void *state, size_t *n)
{
    *n = ALLOCS;
    return ((const struct bicg *)state)->allocs;
}

static uint32_t bicg_launches(const void *state)
{
    return ((const struct bicg *)state)->kernel ? 1 : 2;
}

/* Which kernel a launch is, 1 or 2. */
static uint32_t which(const struct bicg *b, uint32_t launch)
{
    return b->kernel ? b->kernel : launch + 1;
}

static void bicg_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct bicg *b = state;
    bool first = which(b, launch) == 1;
    *out = (struct program_launch){.kernel = first ? "bicg_kernel1" : "bicg_kernel2",
                                   .blocks = (b->n + BLOCK - 1) / BLOCK,
                                   .threads = BLOCK,
                                   .registers = first ? 32 : 25};
}

/* The loads of a turn of `part`: element [k][thread] of A, or [thread][k], and element k of the vector. */
static void add_turn(const struct bicg *b, bool first, uint64_t thread, const struct program_part *part,
                     struct program_body *body)
{
    uint64_t pitch = b->n * 4, down = first ? pitch : 4; /* from a trip to the next */
    for (uint32_t k = 0; k < part->trips; k++) {
        uint64_t trip = part->first + k;
        struct program_access *a = program_load(body, b->allocs, A, trip * down + thread * (first ? 4 : pitch), 4);
        a->lane_stride = first ? 4 : (int64_t)pitch;
        a->turn_stride = (int64_t)(part->trips * down);
        a->before = first ? 2 : 0;
        struct program_access *v = program_load(body, b->allocs, first ? R : P, trip * 4, 4);
        v->lane_stride = 0;
        v->turn_stride = 4 * (int64_t)part->trips;
        a->use = v->use = 0;
        a->active = v->active = part->active;
    }
    body->after = part->trips + (first ? 10 : 11);
    body->turns = part->turns;
}

static int bicg_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                     struct err *err)
{
    const struct bicg *b = run;
    struct program_part part;
    bool first = which(b, launch) == 1;
    uint64_t thread = warp * PROGRAM_LANES;
    (void)err;
    if (thread >= b->n)
        return program_no_trip(index, GUARD, body);
    struct program_loop loop = {b->n, program_first_lanes(b->n - thread), 0, b->unroll};
    if (program_loop_part(&loop, index, &part)) {
        add_turn(b, first, thread, &part, body);
        return 1;
    }
    if (index > 0 && !program_loop_part(&loop, index - 1, &part))
        return 0;
    struct program_access *store = program_store(body, b->allocs, first ? S : Q, thread * 4, 4);
    store->active = loop.active;
    store->before = ONCE;
    body->after = 1;
    body->last = true;
    return 1;
}

static const struct program_ops bicg_ops = {
    .allocs = bicg_allocs, .launches = bicg_launches, .launch = bicg_launch, .body = bicg_body};

static int bicg_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&bicg_ops, state, ((const struct bicg *)state)->compute_ns};
    return 0;
}

const struct workload_type workload_bicg = {
    .name = "bicg",
    .summary = "matrix-vector products with a matrix and its transpose, two kernels",
    .source = "PolyBench-ACC CUDA/linear-algebra/kernels/bicg",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = bicg_params,
    .params_size = sizeof(struct bicg_params),
    .open = bicg_open,
    .close = free,
    .program = bicg_program,
};
