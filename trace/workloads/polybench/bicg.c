/* bicg: the two matrix-vector products of PolyBench-ACC's BiCG, s = A^T r and q = A p, N x N floats.
 *
 * Kernel 1: thread j sums A[i][j] r[i] over all rows i; an actor is a block of 256 threads, a step one row (1 KiB of
 * A, r[i], s[j] updated in memory). Kernel 2: thread i sums A[i][j] p[j] over all columns j; an actor is a warp of 32
 * rows, a step 128 columns: 32 pages of A, one per lane, far apart. N = sqrt(bytes / 4) down to a multiple of 1,024, so
 * a row is a whole number of pages. A, r and p are written by the CPU first. kernel=1 or 2 runs one alone.
 * Source: PolyBench-ACC, CUDA/linear-algebra/kernels/bicg/bicg.cu.
 * Differs: the warps of a block of kernel 1 go on together; kernel 2 asks for its pages again every 128 columns. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/workloads/polybench/suite.h"

enum { BLOCK = 256, WARP = 32, BLOCKS_PER_SM = 8, WARPS_PER_SM = 64, COLUMNS = 128, A = 0, R = 1, S = 2, P = 3, Q = 4 };

struct bicg_params {
    int64_t bytes, kernel, compute1_ns, compute2_ns;
};

struct bicg {
    uint64_t n;
    uint32_t kernel; /* 0: both */
    uint32_t compute1_ns, compute2_ns;
    struct actor_alloc allocs[5];
    struct actor_writer writer;
};

static const struct param bicg_params[] = {
    PARAM_BYTES_ROW(bicg_params, bytes, 1 << 22, 0x1p38, 0x1p33, "the matrix"),
    PARAM_INT_ROW(bicg_params, kernel, "", 0, 2, 0, "1: s = A^T r alone; 2: q = A p alone; 0: both"),
    PARAM_NS_ROW(bicg_params, compute1_ns, 0, 1e9, 800, "time of a block and row of kernel 1, all pages resident"),
    PARAM_NS_ROW(bicg_params, compute2_ns, 0, 1e9, 500000,
                 "time of a warp of kernel 2 for 1,024 columns, all pages resident"),
    {0}};

static void *bicg_open(const void *params, struct err *err)
{
    const struct bicg_params *p = params;
    struct bicg *b = mem_zalloc(1, sizeof *b, err);
    if (!b)
        return NULL;
    b->n = (uint64_t)sqrt((double)p->bytes / 4) / 1024 * 1024;
    b->kernel = (uint32_t)p->kernel;
    b->compute1_ns = (uint32_t)p->compute1_ns;
    b->compute2_ns = (uint32_t)(p->compute2_ns * COLUMNS / 1024);
    b->allocs[A] = (struct actor_alloc){.name = "A", .bytes = b->n * b->n * 4, .host = true};
    b->allocs[R] = (struct actor_alloc){.name = "r", .bytes = b->n * 4, .host = true};
    b->allocs[S] = (struct actor_alloc){.name = "s", .bytes = b->n * 4};
    b->allocs[P] = (struct actor_alloc){.name = "p", .bytes = b->n * 4, .host = true};
    b->allocs[Q] = (struct actor_alloc){.name = "q", .bytes = b->n * 4};
    actor_space_place(b->allocs, 5);
    if (actor_space_init(b->allocs, 5, err)) {
        free(b);
        return NULL;
    }
    return b;
}

static const struct actor_alloc *bicg_allocs(const void *state, size_t *n)
{
    *n = 5;
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

static void bicg_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    const struct bicg *b = state;
    if (which(b, launch) == 1)
        *out = (struct actor_launch){"bicg_kernel1", (uint32_t)(b->n / BLOCK), BLOCKS_PER_SM, 1, false};
    else
        *out = (struct actor_launch){"bicg_kernel2", (uint32_t)(b->n / WARP), WARPS_PER_SM, BLOCK / WARP, false};
}

static int step1(const struct bicg *b, uint32_t block, uint32_t row, struct actor_step *step)
{
    if (row >= b->n)
        return 0;
    step->count = 3;
    step->page[0] = actor_page(&b->allocs[A], (row * b->n + (uint64_t)block * BLOCK) * 4);
    step->page[1] = actor_page(&b->allocs[R], row * 4ull);
    step->page[2] = actor_page(&b->allocs[S], block * BLOCK * 4ull);
    step->writes = 4;
    step->accesses = 3 * BLOCK / WARP;
    step->compute_ns = b->compute1_ns;
    return 1;
}

static int step2(const struct bicg *b, uint32_t warp, uint32_t part, struct actor_step *step)
{
    uint64_t column = (uint64_t)part * COLUMNS;
    if (column >= b->n)
        return 0;
    uint32_t page = actor_page(&b->allocs[A], (((uint64_t)warp * WARP) * b->n + column) * 4);
    uint32_t pitch = (uint32_t)(b->n * 4 / ACTOR_PAGE_BYTES); /* whole pages, as N is a multiple of 1,024 */
    for (uint32_t lane = 0; lane < WARP; lane++)
        step->page[lane] = page + lane * pitch;
    step->page[WARP] = actor_page(&b->allocs[P], column * 4);
    step->page[WARP + 1] = actor_page(&b->allocs[Q], warp * WARP * 4ull);
    step->count = WARP + 2;
    step->writes = 1ull << (WARP + 1);
    step->accesses = WARP + 2;
    step->compute_ns = b->compute2_ns;
    return 1;
}

static int bicg_step(void *run, uint32_t launch, uint32_t actor, uint32_t index, struct actor_step *step,
                     struct err *err)
{
    const struct bicg *b = run;
    (void)err;
    return which(b, launch) == 1 ? step1(b, actor, index, step) : step2(b, actor, index, step);
}

static const struct actor_ops bicg_ops = {
    .allocs = bicg_allocs, .launches = bicg_launches, .launch = bicg_launch, .step = bicg_step};

static int bicg_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct bicg *b = state;
    return actor_writer_next(&b->writer, &bicg_ops, b, records, cap, n, err);
}

static void bicg_close(void *state)
{
    free(state);
}

const struct workload_type workload_bicg = {
    .name = "bicg",
    .summary = "matrix-vector products with a matrix and its transpose, two kernels",
    .source = "PolyBench-ACC CUDA/linear-algebra/kernels/bicg",
    .produces = WORKLOAD_TOUCHES,
    .params = bicg_params,
    .params_size = sizeof(struct bicg_params),
    .open = bicg_open,
    .close = bicg_close,
    .ops = &bicg_ops,
    .next = bicg_next,
};
