/* rodinia-srad-v2: Rodinia's speckle reduction with shared memory, rows x cols floats in tiles of 16 x 16, two kernels
 * an iteration.
 *
 * With K = cols, o = 16 K by + 16 bx, c = o + K ty + tx (tx, ty: thread in the tile):
 *     srad_cuda_1: J[o+tx-K]; J[o+16K+tx]; by first: J[16bx+tx], else by last: J[o+15K+tx]; barrier;
 *                  J[o+K ty-1]; J[o+K ty+16]; bx first: J[o+K ty], else bx last: J[o+K ty+15]; barrier;
 *                  J[c]; barrier; coefficient from shared memory; barrier; store C, E, W, S, N [c]
 *     srad_cuda_2: J[c]; barrier; C[o+16K+tx]; by last: C[o+15K+tx]; barrier;
 *                  C[o+K ty+16]; bx last: C[o+K ty+15]; barrier;
 *                  C[c]; barrier; N[c], S[c], W[c], E[c]; barrier; store J[c]
 *
 * What lies north and south is loaded by all 8 warps of a block; west and east 16 lanes load one element. At the border
 * the kernel reads outside its array (row -1, row rows, element -1), then again inside: so do we. Arrays, from
 * 0xC0000000 on: J, C, E, W, S, N (rows x cols floats); J is copied in (and again before each iteration).
 * Worked example, 64 x 64: block 0, warp 0: north: bytes -256 to -193 of J, south: from 16 x 256 on, then as by = 0
 * bytes 0 to 63; west: bytes -4 and 252.
 * Defaults: 2048 x 2048, two iterations, as gupta-2025-f3fs runs it.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers, shared memory: the same compiler.
 * Its branches for the edges of a tile: as a warp of rows within it takes them. order=hoisted: the loads between two
 * barriers or branches, then their uses.
 * Source: Rodinia 3.1, cuda/srad/srad_v2/srad.cu and srad_kernel.cu (srad_cuda_1, srad_cuda_2).
 * Differs: copies between iterations are not made. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"
#include "trace/workloads/rodinia/tile.h"

enum { J, C, E, W, S, N, ARRAYS };
enum { COEFFICIENT = 89, EDGES = 18 }; /* instructions in shared memory */

struct sradv2_params {
    int64_t rows, cols, iterations, order, compute_ns;
};

struct sradv2 {
    struct sradv2_params p;
    uint64_t down, across; /* tiles */
    struct program_alloc allocs[ARRAYS];
};

static const struct param sradv2_params[] = {
    PARAM_INT_ROW(sradv2_params, rows, "", TILE, 1 << 26, 2048, "a multiple of 16; rows x cols below 2^31"),
    PARAM_INT_ROW(sradv2_params, cols, "", TILE, 1 << 26, 2048, "a multiple of 16"),
    PARAM_INT_ROW(sradv2_params, iterations, "", 1, 1 << 20, 2, "of two launches each"),
    RODINIA_ORDER_ROW(sradv2_params),
    PARAM_NS_AUTO_ROW(sradv2_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *sradv2_open(const void *params, struct err *err)
{
    static const char *const names[ARRAYS] = {"J", "C", "E", "W", "S", "N"};
    const struct sradv2_params *p = params;
    if (p->rows % TILE || p->cols % TILE || p->rows * p->cols > INT32_MAX) {
        err_set(err, "rodinia-srad-v2: %lld x %lld elements; expected multiples of 16, less than 2^31 in all",
                (long long)p->rows, (long long)p->cols);
        return NULL;
    }
    struct sradv2 *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->down = (uint64_t)p->rows / TILE;
    s->across = (uint64_t)p->cols / TILE;
    for (unsigned i = 0; i < ARRAYS; i++) {
        s->allocs[i] = (struct program_alloc){.bytes = (uint64_t)(p->rows * p->cols) * 4, .host = i == J};
        s->allocs[i].name[0] = names[i][0];
    }
    program_place(s->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *sradv2_allocs(const void *state, size_t *n)
{
    *n = ARRAYS;
    return ((const struct sradv2 *)state)->allocs;
}

static uint32_t sradv2_launches(const void *state)
{
    return 2 * (uint32_t)((const struct sradv2 *)state)->p.iterations;
}

static void sradv2_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct sradv2 *s = state;
    bool second = launch % 2;
    *out = (struct program_launch){.kernel = second ? "srad_cuda_2" : "srad_cuda_1",
                                   .blocks = s->down * s->across,
                                   .threads = TILE_THREADS,
                                   .registers = second ? 26 : 22,
                                   .shared = (second ? 5 : 6) * TILE_THREADS * 4};
}

/* Where a warp stands. */
struct place {
    uint64_t bx, by, o; /* tile, its first element */
    uint64_t row;       /* element of the tile's first column in the row of lane 0 */
};

enum shape { ROW, COLUMN, CELLS }; /* 16 elements side by side, twice; one of each row; one for each lane */

static struct program_access *add(const struct sradv2 *s, struct program_body *body, unsigned array, uint64_t element,
                                  enum shape shape, uint16_t before, uint16_t use)
{
    struct program_access *a = program_load(body, s->allocs, array, element * 4, 4);
    tile_spread(body, a, shape == ROW ? 0 : (uint64_t)s->p.cols * 4, shape == COLUMN ? 0 : 4);
    a->before = before;
    a->use = use;
    return a;
}

static void add_store(const struct sradv2 *s, struct program_body *body, unsigned array, uint64_t element,
                      uint16_t before)
{
    add(s, body, array, element, CELLS, before, 0)->kind = RECORD_WRITE;
}

/* The loads since `first` are a basic block's. */
static void end_block(const struct sradv2 *s, struct program_body *body, uint32_t first)
{
    rodinia_order(body, first, (enum rodinia_order)s->p.order);
}

static void add_barrier(struct program_body *body, uint16_t before)
{
    program_barrier(body);
    body->access[body->count - 1].before = before;
}

static void load_1(const struct sradv2 *s, const struct place *at, struct program_body *body)
{
    uint64_t k = (uint64_t)s->p.cols;
    bool upper = at->by == 0, lower = at->by == s->down - 1; /* upper goes before lower, as in the source */
    bool left = at->bx == 0, right = at->bx == s->across - 1;
    (void)add(s, body, J, at->o - k, ROW, 16, 6);
    (void)add(s, body, J, at->o + TILE * k, ROW, 8, 4);
    end_block(s, body, 0);
    if (upper || lower)
        (void)add(s, body, J, upper ? at->o : at->o + (TILE - 1) * k, ROW, upper ? 9 : 14, 1);
    add_barrier(body, upper ? 2 : lower ? 3 : 11);
    uint32_t first = body->count;
    (void)add(s, body, J, at->row - 1, COLUMN, 3, 4);
    (void)add(s, body, J, at->row + TILE, COLUMN, 4, 4);
    end_block(s, body, first);
    if (left || right)
        (void)add(s, body, J, left ? at->row : at->row + TILE - 1, COLUMN, left ? 9 : 15, 1);
    add_barrier(body, left ? 1 : right ? 2 : 10);
    (void)add(s, body, J, at->row, CELLS, 4, 4);
    add_barrier(body, 4);
}

static void store_1(const struct sradv2 *s, const struct place *at, struct program_body *body)
{
    static const uint8_t arrays[] = {C, E, W, S, N};
    add_barrier(body, COEFFICIENT);
    for (unsigned i = 0; i < sizeof arrays; i++)
        add_store(s, body, arrays[i], at->row, i ? 2 : 4);
    body->after = 1;
}

static void load_2(const struct sradv2 *s, const struct place *at, struct program_body *body)
{
    uint64_t k = (uint64_t)s->p.cols;
    bool lower = at->by == s->down - 1, right = at->bx == s->across - 1;
    (void)add(s, body, J, at->row, CELLS, 15, 6);
    add_barrier(body, 6);
    (void)add(s, body, C, at->o + TILE * k, ROW, 2, 4);
    if (lower)
        (void)add(s, body, C, at->o + (TILE - 1) * k, ROW, 12, 1);
    add_barrier(body, lower ? 1 : 8);
    (void)add(s, body, C, at->row + TILE, COLUMN, 2, 4);
    if (right)
        (void)add(s, body, C, at->row + TILE - 1, COLUMN, 13, 1);
    add_barrier(body, right ? 1 : 8);
    (void)add(s, body, C, at->row, CELLS, 1, 4);
    add_barrier(body, 4);
}

static void store_2(const struct sradv2 *s, const struct place *at, struct program_body *body)
{
    (void)add(s, body, N, at->row, CELLS, EDGES, 6);
    (void)add(s, body, S, at->row, CELLS, 2, 2);
    (void)add(s, body, W, at->row, CELLS, 5, 1);
    (void)add(s, body, E, at->row, CELLS, 3, 2);
    end_block(s, body, 0);
    add_barrier(body, 13);
    add_store(s, body, J, at->row, 1);
    body->after = 1;
}

static int sradv2_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                       struct err *err)
{
    static void (*const parts[2][2])(const struct sradv2 *, const struct place *,
                                     struct program_body *) = {{load_1, store_1}, {load_2, store_2}};
    const struct sradv2 *s = run;
    uint64_t block = warp / TILE_WARPS, k = (uint64_t)s->p.cols;
    struct place at = {.bx = block % s->across, .by = block / s->across};
    (void)err;
    if (index > 1)
        return 0;
    at.o = TILE * k * at.by + TILE * at.bx;
    at.row = at.o + k * (warp % TILE_WARPS * 2);
    parts[launch % 2][index](s, &at, body);
    return 1;
}

static const struct program_ops sradv2_ops = {
    .allocs = sradv2_allocs, .launches = sradv2_launches, .launch = sradv2_launch, .body = sradv2_body};

static int sradv2_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&sradv2_ops, state, ((const struct sradv2 *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_sradv2 = {
    .name = "rodinia-srad-v2",
    .summary = "speckle reduction in tiles with shared memory, two kernels an iteration",
    .source = "Rodinia 3.1 cuda/srad/srad_v2",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = sradv2_params,
    .params_size = sizeof(struct sradv2_params),
    .open = sradv2_open,
    .close = free,
    .program = sradv2_program,
};
