/* The workload llm: the collaborative case, one layer of a GPT-3-like model split over PIM and GPU, done once.
 *
 * Two programs side by side. The GPU's: queries, keys and values, three matrix products of 128 x 4096 x 4096 one after
 * the other: Y_i = X W_i, one launch each, tiled through shared memory or straight from memory. The PIM's, on all
 * channels: fully connected (1024 weight rows), softmax (128 rows), fully connected on one column group (1024 rows),
 * one after the other. Both are cut to 1/scale: the PIM's rows, and the 4096 rows of weights that the products sum
 * over.
 *
 * X has m rows of k floats, W_i k rows of n, Y_i m rows of n, row after row; they are the GPU's own, X and W_i copied
 * there. A block of tile x tile threads makes one tile of Y_i: for each tile of k it loads an element of X and one of
 * W_i a thread into shared memory, meets, multiplies tile by tile, and meets again; then it stores. Blocks go along a
 * row of tiles first. Worked example, m = n = k = 64, tile 32: 4 blocks of 32 warps; a warp makes two turns of two
 * loads of 4 sectors each, then a store of 4 sectors. Straight from memory the same blocks have a thread load, for each
 * element of k, one of X, the same for its row of threads, and one of W_i; the loop is unrolled by four.
 *
 * Assumed, since no code of the products is named: tiled (or straight), tile 32 (or 16: doubles what goes over the
 * interconnect), no registers kept but one sum a thread, 32 registers (24 to 128: 1 or 2 blocks of 1,024
 * threads are resident either way), 3 instructions for each product of a thread (2 to 4: two reads of shared memory and
 * a multiply-add, some of them wide), blocks along rows first (or columns: then a tile of W_i is read by neighbours).
 * Source: gupta-2025-f3fs section III (LLM); its artifact for the sizes; tiling: CUDA programming guide, shared memory.
 */
#include <stdio.h>

#include "trace/base/mem.h"
#include "trace/workloads/pim/pim_program.h"
#include "trace/workloads/workload.h"

/* --- the products --- */

enum { GEMM_LAUNCHES_MAX = 8 };

struct gemm {
    uint32_t m, n, k; /* multiples of tile */
    uint32_t tile;    /* 16 or 32 */
    uint32_t launches;
    uint32_t registers;                                     /* of a thread */
    uint32_t per_product;                                   /* instructions */
    bool columns_first;                                     /* blocks go down a column of tiles first */
    bool untiled;                                           /* straight from memory */
    struct program_alloc allocs[1 + 2 * GEMM_LAUNCHES_MAX]; /* X, then W_i, then Y_i; made by gemm_init() */
};

enum { FLOAT = 4, ALIGN = 256, PROLOGUE = 20, PER_TILE = 6, UNROLL = 4 };

/* The numbers are set; places the arrays from `base` on. */
static int gemm_init(struct gemm *g, uint64_t base, struct err *err)
{
    if ((g->tile != 16 && g->tile != 32) || g->launches < 1 || g->launches > GEMM_LAUNCHES_MAX)
        return err_set(err, "%u products in tiles of %u; expected 1 to %d in tiles of 16 or 32", g->launches, g->tile,
                       GEMM_LAUNCHES_MAX);
    if (!g->m || !g->n || !g->k || g->m % g->tile || g->n % g->tile || g->k % g->tile)
        return err_set(err, "a product of %u x %u x %u; expected multiples of the tile, %u", g->m, g->k, g->n, g->tile);
    g->allocs[0] =
        (struct program_alloc){.name = "X", .bytes = (uint64_t)g->m * g->k * FLOAT, .host = true, .device = true};
    for (uint32_t i = 0; i < g->launches; i++) {
        struct program_alloc *w = &g->allocs[1 + i], *y = &g->allocs[1 + g->launches + i];
        *w = (struct program_alloc){.bytes = (uint64_t)g->k * g->n * FLOAT, .host = true, .device = true};
        *y = (struct program_alloc){.bytes = (uint64_t)g->m * g->n * FLOAT, .device = true};
        (void)snprintf(w->name, sizeof w->name, "W%u", i);
        (void)snprintf(y->name, sizeof y->name, "Y%u", i);
    }
    program_place(g->allocs, 1 + 2 * g->launches, base, ALIGN);
    return 0;
}

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    const struct gemm *g = state;
    *n = 1 + 2 * g->launches;
    return g->allocs;
}

static uint32_t launches(const void *state)
{
    return ((const struct gemm *)state)->launches;
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct gemm *g = state;
    (void)number;
    *out = (struct program_launch){.kernel = "gemm",
                                   .blocks = (uint64_t)(g->m / g->tile) * (g->n / g->tile),
                                   .threads = g->tile * g->tile,
                                   .registers = g->registers,
                                   .shared = g->untiled ? 0 : 2 * g->tile * g->tile * FLOAT};
}

/* Lanes of a warp lie in rows of the tile: all in one of 32, or 16 in each of two. */
static void spread(struct program_body *body, struct program_access *a, const struct gemm *g, uint64_t row_bytes,
                   uint64_t column_bytes)
{
    if (g->tile == PROGRAM_LANES) {
        a->lane_stride = (int64_t)column_bytes;
        return;
    }
    uint64_t *lane = program_scatter(body, a);
    for (uint32_t l = 0; l < PROGRAM_LANES; l++)
        lane[l] = a->addr + l / g->tile * row_bytes + l % g->tile * column_bytes;
}

/* Through shared memory; x, w: of the first lane. */
static void tiles(const struct gemm *g, uint32_t number, uint64_t x, uint64_t w, struct program_body *out)
{
    struct program_access *a = program_load(out, g->allocs, 0, x, FLOAT);
    a->before = PER_TILE;
    a->use = 2;
    a->turn_stride = (int64_t)g->tile * FLOAT;
    spread(out, a, g, (uint64_t)g->k * FLOAT, FLOAT);
    struct program_access *b = program_load(out, g->allocs, 1 + number, w, FLOAT);
    b->turn_stride = (int64_t)g->tile * g->n * FLOAT;
    spread(out, b, g, (uint64_t)g->n * FLOAT, FLOAT);
    program_barrier(out);
    out->access[2].before = 2; /* the stores to shared memory */
    program_barrier(out);
    out->access[3].before = (uint16_t)(g->tile * g->per_product);
    out->turns = g->k / g->tile;
}

/* Straight from memory: an element of a row of X for all of a row of lanes, and one of W a lane; then the products. */
static void straight(const struct gemm *g, uint32_t number, uint64_t x, uint64_t w, struct program_body *out)
{
    for (uint32_t i = 0; i < UNROLL; i++) {
        struct program_access *a = program_load(out, g->allocs, 0, x + (uint64_t)i * FLOAT, FLOAT);
        a->before = i ? 0 : PER_TILE + UNROLL;
        a->use = (uint16_t)(2 * UNROLL - i);
        a->turn_stride = UNROLL * FLOAT;
        spread(out, a, g, (uint64_t)g->k * FLOAT, 0);
        struct program_access *b = program_load(out, g->allocs, 1 + number, w + (uint64_t)i * g->n * FLOAT, FLOAT);
        b->use = (uint16_t)(2 * UNROLL - 1 - i);
        b->turn_stride = (int64_t)UNROLL * g->n * FLOAT;
        spread(out, b, g, 0, FLOAT);
    }
    out->turns = g->k / UNROLL;
}

static int body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out, struct err *err)
{
    const struct gemm *g = run;
    const uint32_t warps = g->tile * g->tile / PROGRAM_LANES, across = g->n / g->tile, down = g->m / g->tile;
    const uint64_t block = warp / warps, ty = warp % warps * (PROGRAM_LANES / g->tile);
    const uint64_t bx = g->columns_first ? block / down : block % across;
    const uint64_t by = g->columns_first ? block % down : block / across;
    (void)err;
    if (index == 0) { /* along k */
        const uint64_t x = (by * g->tile + ty) * g->k * FLOAT, tile_w = bx * g->tile * (uint64_t)FLOAT;
        if (g->untiled)
            straight(g, number, x, tile_w, out);
        else
            tiles(g, number, x, ty * g->n * FLOAT + tile_w, out);
        return 1;
    }
    if (index > 1)
        return 0;
    const uint64_t y = ((by * g->tile + ty) * g->n + bx * g->tile) * FLOAT;
    struct program_access *c = program_store(out, g->allocs, 1 + g->launches + number, y, FLOAT);
    c->before = PROLOGUE;
    spread(out, c, g, (uint64_t)g->n * FLOAT, FLOAT);
    return 1;
}

static const struct program_ops gemm_ops = {.allocs = allocs, .launches = launches, .launch = launch, .body = body};

/* --- both sides --- */

enum { ROWS = 128, WIDTH = 4096, PRODUCTS = 3, CHANNELS = 32 };
static const uint64_t gpu_base = 0xc0000000; /* the artifact's first allocation; PIM rows lie above 4 GiB */

struct keys {
    int64_t scale, base_row, tile, order, shared, registers, per_product;
};

static const struct param keys[] = {
    PARAM_INT_ROW(keys, scale, "", 1, 128, 32, "PIM rows and rows of weights are divided by this"),
    PARAM_INT_ROW(keys, base_row, "", 4096, 8000000, 4096, "first row of the PIM side's arrays"),
    PARAM_INT_ROW(keys, tile, "", 16, 32, 32, "side of a tile of the products: 16 or 32"),
    PARAM_CHOICE_ROW(keys, order, "rows|columns", 0, "blocks go along rows of tiles first, or down columns"),
    PARAM_INT_ROW(keys, shared, "", 0, 1, 1, "1: products go through shared memory, 0: straight from memory"),
    PARAM_INT_ROW(keys, registers, "", 16, 255, 32, "registers of a thread of the products"),
    PARAM_INT_ROW(keys, per_product, "", 1, 16, 3, "instructions for each product of a thread"),
    {0}};

struct state {
    struct keys keys;
    struct gemm gemm;
    struct pim_ops ops;
    struct pim_program pim;
};

static void close_llm(void *p)
{
    struct state *s = p;
    pim_program_release(&s->pim);
    pim_ops_release(&s->ops);
    free(s);
}

static int build(struct state *s, struct err *err)
{
    const uint32_t scale = (uint32_t)s->keys.scale, base = (uint32_t)s->keys.base_row;
    const uint32_t weights = 1024 / scale, rows = 128 / scale, tile = (uint32_t)s->keys.tile;
    const uint32_t k = WIDTH / scale / tile * tile;
    s->gemm = (struct gemm){.m = ROWS,
                            .n = WIDTH,
                            .k = k ? k : tile,
                            .tile = tile,
                            .launches = PRODUCTS,
                            .registers = (uint32_t)s->keys.registers,
                            .per_product = (uint32_t)s->keys.per_product,
                            .columns_first = s->keys.order,
                            .untiled = !s->keys.shared};
    return gemm_init(&s->gemm, gpu_base, err) || pim_ops_fc(&s->ops, weights, 8, base, err) ||
                   pim_ops_build(&s->ops, pim_kernel_find("softmax"), rows, base + 2048, err) ||
                   pim_ops_fc(&s->ops, weights, 1, base + 2304, err)
               ? -1
               : 0;
}

static void *open_llm(const void *params, struct err *err)
{
    struct state *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->keys = *(const struct keys *)params;
    if (build(s, err)) {
        close_llm(s);
        return NULL;
    }
    return s;
}

static int gpu_side(void *state, struct program *program, struct err *err)
{
    struct state *s = state;
    (void)err;
    *program = (struct program){.ops = &gemm_ops, .state = &s->gemm, .compute_ns = -1};
    return 0;
}

static int pim_side(void *state, struct program *program, struct err *err)
{
    struct state *s = state;
    pim_program_release(&s->pim);
    if (pim_program_init(&s->pim, &s->ops, "llm", CHANNELS, err))
        return -1;
    *program = (struct program){.ops = &pim_program_ops, .state = &s->pim, .compute_ns = -1};
    return 0;
}

const struct workload_type workload_llm = {
    .name = "llm",
    .summary = "collaborative language-model layer: matrix products on the GPU beside PIM kernels, done once",
    .source = "gupta-2025-f3fs section III",
    .produces = WORKLOAD_PROGRAM,
    .params = keys,
    .params_size = sizeof(struct keys),
    .open = open_llm,
    .close = close_llm,
    .views = VIEW_DRAM,
    .program = gpu_side,
    .beside = pim_side,
};
