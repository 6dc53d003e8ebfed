/* fdtd2d: the finite-difference kernels of PolyBench-ACC, three N x N arrays of floats, three kernels a time step.
 *
 *     i = blockIdx.y 8 + threadIdx.y, j = blockIdx.x 32 + threadIdx.x, as many blocks as cover N x N
 *     step 1: if (0 < i < N, j < N)   ey[i][j] -= 0.5 (hz[i][j] - hz[i-1][j])
 *     step 2: if (i < N, 0 < j < N)   ex[i][j] -= 0.5 (hz[i][j] - hz[i][j-1])
 *     step 3: if (i, j < N-1)         hz[i][j] -= 0.7 (ex[i][j+1] - ex[i][j] + ey[i+1][j] - ey[i][j])
 *
 * All arrays are written by the CPU first. Blocks of 32 x 8 threads: a warp is 32 points of one row. The loads of a
 * thread are independent: all are issued (in the order of the tables below), then the first is used; the store comes
 * last. N = sqrt(bytes / 12) down to a multiple of 32, or `n`.
 * Instructions, order, registers: counted in the machine code that nvcc 13.0 -O3 makes for sm_90 of
 * fixtures/cuda/kernels.cu.
 * Source: PolyBench-ACC, CUDA/stencils/FDTD-2D/fdtd2d.cu, written anew in fixtures/cuda/kernels.cu.
 * Differs: ex and ey lack the benchmark's extra column and row; row 0 of ey is not set from _fict_; three time steps by
 * default (the benchmark's default is 500). */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/polybench/suite.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, GUARD = 19, EX = 0, EY = 1, HZ = 2 };

struct fdtd2d_params {
    int64_t bytes, n, steps, compute_ns;
};

struct fdtd2d {
    uint64_t n, across, steps; /* across: blocks in x */
    int64_t compute_ns;
    struct program_alloc allocs[3];
};

/* A kernel: its points, what each loads, and the array that it stores to. */
struct stencil {
    const char *name;
    uint64_t top, left, bottom, right; /* rows and columns that it leaves out */
    uint32_t registers, loads;
    struct {
        unsigned array, down, across; /* A[i + down - 1][j + across - 1] */
        uint16_t before, use;
    } load[5];
    unsigned stored;
    uint16_t before; /* the store */
};

static const struct stencil stencils[3] = {
    {"fdtd_step1", 1, 0, 0, 0, 14, 3, {{HZ, 1, 1, 41, 3}, {HZ, 0, 1, 0, 2}, {EY, 1, 1, 0, 2}}, EY, 2},
    {"fdtd_step2", 0, 1, 0, 0, 12, 3, {{HZ, 1, 0, 32, 3}, {HZ, 1, 1, 0, 2}, {EX, 1, 1, 0, 2}}, EX, 2},
    {"fdtd_step3",
     0,
     0,
     1,
     1,
     16,
     5,
     {{EX, 1, 1, 36, 8}, {EX, 1, 2, 0, 7}, {EY, 2, 1, 2, 5}, {EY, 1, 1, 1, 4}, {HZ, 1, 1, 0, 4}},
     HZ,
     4},
};

static const struct param fdtd2d_params[] = {
    PARAM_BYTES_ROW(fdtd2d_params, bytes, 12 * BLOCK_X * BLOCK_X, 0x1p38, 0x1p33, "all three arrays together"),
    PARAM_INT_ROW(fdtd2d_params, n, "", 0, 1 << 18, 0, "rows and columns; 0: as many as `bytes` holds"),
    PARAM_INT_ROW(fdtd2d_params, steps, "", 1, 100000, 3, "time steps"),
    PARAM_NS_AUTO_ROW(fdtd2d_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *fdtd2d_open(const void *params, struct err *err)
{
    const struct fdtd2d_params *p = params;
    uint64_t n = p->n ? (uint64_t)p->n : (uint64_t)sqrt((double)p->bytes / 12) / BLOCK_X * BLOCK_X;
    struct fdtd2d *f = mem_zalloc(1, sizeof *f, err);
    if (!f)
        return NULL;
    f->n = n;
    f->across = (n + BLOCK_X - 1) / BLOCK_X;
    f->steps = (uint64_t)p->steps;
    f->compute_ns = p->compute_ns;
    f->allocs[EX] = (struct program_alloc){.name = "ex", .bytes = n * n * 4, .host = true};
    f->allocs[EY] = (struct program_alloc){.name = "ey", .bytes = n * n * 4, .host = true};
    f->allocs[HZ] = (struct program_alloc){.name = "hz", .bytes = n * n * 4, .host = true};
    program_place(f->allocs, 3, 0, 0);
    return f;
}

static const struct program_alloc *fdtd2d_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct fdtd2d *)state)->allocs;
}

static uint32_t fdtd2d_launches(const void *state)
{
    return (uint32_t)(3 * ((const struct fdtd2d *)state)->steps);
}

static void fdtd2d_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct fdtd2d *f = state;
    *out = (struct program_launch){.kernel = stencils[launch % 3].name,
                                   .blocks = f->across * ((f->n + BLOCK_Y - 1) / BLOCK_Y),
                                   .threads = BLOCK_X * BLOCK_Y,
                                   .registers = stencils[launch % 3].registers};
}

static void add_points(const struct fdtd2d *f, const struct stencil *s, uint64_t i, uint64_t x, uint32_t active,
                       struct program_body *body)
{
    for (uint32_t k = 0; k < s->loads; k++) {
        uint64_t row = i + s->load[k].down - 1, column = x + s->load[k].across - 1;
        struct program_access *a = program_load(body, f->allocs, s->load[k].array, (row * f->n + column) * 4, 4);
        a->active = active;
        a->before = s->load[k].before;
        a->use = s->load[k].use;
    }
    struct program_access *store = program_store(body, f->allocs, s->stored, (i * f->n + x) * 4, 4);
    store->active = active;
    store->before = s->before;
    body->after = 1;
}

static int fdtd2d_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                       struct err *err)
{
    const struct fdtd2d *f = run;
    const struct stencil *s = &stencils[launch % 3];
    (void)err;
    uint32_t block = (uint32_t)(warp / BLOCK_Y), across = (uint32_t)f->across; /* a launch has fewer than 2^32 warps */
    uint64_t x = (uint64_t)(block % across) * BLOCK_X, i = (uint64_t)(block / across) * BLOCK_Y + warp % BLOCK_Y;
    uint32_t active = x + s->right < f->n ? program_first_lanes(f->n - s->right - x) : 0;
    if (x < s->left)
        active &= ~1u;
    if (active == 0 || i < s->top || i + s->bottom >= f->n)
        return program_no_trip(index, GUARD, body);
    if (index > 0)
        return 0;
    body->last = true;
    add_points(f, s, i, x, active, body);
    return 1;
}

static const struct program_ops fdtd2d_ops = {
    .allocs = fdtd2d_allocs, .launches = fdtd2d_launches, .launch = fdtd2d_launch, .body = fdtd2d_body};

static int fdtd2d_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&fdtd2d_ops, state, ((const struct fdtd2d *)state)->compute_ns};
    return 0;
}

const struct workload_type workload_fdtd2d = {
    .name = "fdtd2d",
    .summary = "finite-difference time domain, three arrays, three kernels a step",
    .source = "PolyBench-ACC CUDA/stencils/FDTD-2D",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = fdtd2d_params,
    .params_size = sizeof(struct fdtd2d_params),
    .open = fdtd2d_open,
    .close = free,
    .program = fdtd2d_program,
};
