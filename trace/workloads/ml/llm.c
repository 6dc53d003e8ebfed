/* llm: the collaborative case, one layer of a GPT-3-like model split over PIM and GPU, done once.
 *
 * Two programs side by side. The GPU's: queries, keys and values, three products of 128 x 4096 x 4096: Y_i = X W_i, one
 * launch each. The PIM's, on all channels, one after the other: fully connected (1024 weight rows), softmax (128 rows),
 * fully connected on one column group (1024 rows). Both are cut to 1/scale: the PIM's rows, and the 4096 rows of
 * weights that the products sum over.
 * X has m rows of k floats, W_i k rows of n, Y_i m rows of n; they are the GPU's own, X and W_i copied there. A block
 * of tile x tile threads makes one tile of Y_i: for each tile of k a thread loads an element of X and one of W_i into
 * shared memory, meets, multiplies tile by tile, and meets again; then it stores. Straight from memory a thread loads,
 * for each element of k, one of X, the same for its row of threads, and one of W_i; the loop is unrolled by four.
 * Worked example, m = n = k = 64, tile 32: 4 blocks of 32 warps; a warp makes two turns of two loads of 4 sectors each,
 * then a store of 4 sectors.
 * Assumed, and not the artifact's product (cuda/gemm.cu of Sacusa/rodinia_3.1_pim: register tiles of 96 x 64 x 32, 128
 * blocks, loads one by one, Y = beta Y + alpha X W): tiled (or straight), tile 32 (or 16: doubles what goes over the
 * interconnect), no registers kept but one sum a thread, 32 registers (24 to 128: 1 or 2 blocks of 1,024 threads are
 * resident either way), 3 instructions for each product of a thread (2 to 4: two reads of shared memory and a multiply-
 * add, some of them wide), blocks along rows first (or columns: then a tile of W_i is read by neighbours).
 * Source: gupta-2025-f3fs section III (LLM); its artifact for the sizes; tiling: CUDA programming guide. */
#include <stdio.h>

#include "trace/program/layout.h"
#include "trace/workloads/pim/pim_program.h"
#include "trace/workloads/workload.h"

/* --- the products --- */

enum { GEMM_LAUNCHES_MAX = 8 };

struct gemm {
    struct layout layout; /* arrays X, then W_i, then Y_i; made by gemm_init() */
    uint32_t m, n, k;     /* multiples of tile */
    uint32_t tile;        /* 16 or 32 */
    uint32_t launches;
    uint32_t registers;   /* of a thread */
    uint32_t per_product; /* instructions */
    bool columns_first;   /* blocks go down a column of tiles first */
    bool untiled;         /* straight from memory */
};

enum { FLOAT = 4, ALIGN = 256, PROLOGUE = 20, PER_TILE = 6, UNROLL = 4 };

/* Lanes of a warp lie in rows of the tile: all in one of 32, or 16 in each of two. */
static struct program_access *spread(const struct emit *e, struct program_access *a, int64_t down, int64_t right)
{
    const struct gemm *g = e->state;
    return g->tile == PROGRAM_LANES ? emit_apart(a, right) : emit_tile(e, a, g->tile, down, right);
}

/* Through shared memory; x, w: elements of the first lane. */
static void tiles(const struct emit *e, int64_t x, int64_t w)
{
    const struct gemm *g = e->state;
    spread(e, emit_load(e, 0, x, PER_TILE, 2), g->k, 1)->turn_stride = (int64_t)g->tile * FLOAT;
    spread(e, emit_load(e, 1 + e->launch, w, 0, 1), g->n, 1)->turn_stride = (int64_t)g->tile * g->n * FLOAT;
    emit_barrier(e, 2); /* the stores to shared memory */
    emit_barrier(e, g->tile * g->per_product);
    e->body->turns = g->k / g->tile;
}

/* Straight from memory: an element of a row of X for all of a row of lanes, and one of W a lane; then the products. */
static void straight(const struct emit *e, int64_t x, int64_t w)
{
    const struct gemm *g = e->state;
    for (uint32_t i = 0; i < UNROLL; i++) {
        struct program_access *a = emit_load(e, 0, x + i, i ? 0 : PER_TILE + UNROLL, 2 * UNROLL - i);
        struct program_access *b = emit_load(e, 1 + e->launch, w + (int64_t)i * g->n, 0, 2 * UNROLL - 1 - i);
        spread(e, a, g->k, 0)->turn_stride = (int64_t)UNROLL * FLOAT;
        spread(e, b, 0, 1)->turn_stride = (int64_t)UNROLL * g->n * FLOAT;
    }
    e->body->turns = g->k / UNROLL;
}

/* Body 0: along k; body 1: the store. */
static int gemm(struct emit *e)
{
    const struct gemm *g = e->state;
    const uint64_t across = g->n / g->tile, down = g->m / g->tile, block = e->at.block;
    const int64_t bx = (int64_t)(g->columns_first ? block / down : block % across);
    const int64_t by = (int64_t)(g->columns_first ? block % down : block / across);
    const int64_t ty = (int64_t)e->at.warp * (PROGRAM_LANES / g->tile), row = by * g->tile + ty, column = bx * g->tile;
    if (e->index > 1)
        return 0;
    if (e->index == 1)
        spread(e, emit_store(e, 1 + g->launches + e->launch, row * g->n + column, PROLOGUE), g->n, 1);
    else if (g->untiled)
        straight(e, row * g->k, column);
    else
        tiles(e, row * g->k, ty * g->n + column);
    return emit_end(e, 0);
}

static void add_arrays(struct gemm *g, char kind, uint64_t elements)
{
    char name[16];
    for (uint32_t i = 0; i < g->launches; i++) {
        (void)snprintf(name, sizeof name, "%c%u", kind, i);
        layout_array(&g->layout, name, elements * FLOAT)->host = kind == 'W';
    }
}

/* The numbers are set; places the arrays from `base` on. */
static int gemm_init(struct gemm *g, uint64_t base, struct err *err)
{
    if ((g->tile != 16 && g->tile != 32) || g->launches < 1 || g->launches > GEMM_LAUNCHES_MAX)
        return err_set(err, "%u products in tiles of %u; expected 1 to %d in tiles of 16 or 32", g->launches, g->tile,
                       GEMM_LAUNCHES_MAX);
    if (!g->m || !g->n || !g->k || g->m % g->tile || g->n % g->tile || g->k % g->tile)
        return err_set(err, "a product of %u x %u x %u; expected multiples of the tile, %u", g->m, g->k, g->n, g->tile);
    g->layout = (struct layout){0};
    layout_init(&g->layout, PARAM_AUTO);
    g->layout.base = base;
    g->layout.align = ALIGN;
    layout_array(&g->layout, "+X", (uint64_t)g->m * g->k * FLOAT);
    add_arrays(g, 'W', (uint64_t)g->k * g->n);
    add_arrays(g, 'Y', (uint64_t)g->m * g->n);
    for (unsigned i = 0; i < g->layout.arrays; i++)
        g->layout.array[i].device = true;
    layout_kernel(&g->layout, gemm, "gemm", (uint64_t)(g->m / g->tile) * (g->n / g->tile), g->tile * g->tile,
                  g->registers, g->untiled ? 0 : 2 * g->tile * g->tile * FLOAT);
    g->layout.launches = g->launches;
    return 0;
}

/* --- both sides --- */

enum { ROWS = 128, WIDTH = 4096, PRODUCTS = 3, CHANNELS = 32 };
static const uint64_t gpu_base = 0xc0000000; /* the artifact's first allocation; PIM rows lie above 4 GiB */

struct llm {
    int64_t scale, base_row, tile, order, shared, registers, per_product;
    struct gemm gemm;
    struct pim_ops ops;
    struct pim_program pim;
};

static const struct param llm_keys[] = {
    PARAM_INT_ROW(llm, scale, "", 1, 128, 32, "PIM rows and rows of weights are divided by this"),
    PARAM_INT_ROW(llm, base_row, "", 4096, 8000000, 4096, "first row of the PIM side's arrays"),
    PARAM_INT_ROW(llm, tile, "", 16, 32, 32, "side of a tile of the products: 16 or 32"),
    PARAM_CHOICE_ROW(llm, order, "rows|columns", 0, "blocks go along rows of tiles first, or down columns"),
    PARAM_INT_ROW(llm, shared, "", 0, 1, 1, "1: products go through shared memory, 0: straight from memory"),
    PARAM_INT_ROW(llm, registers, "", 16, 255, 32, "registers of a thread of the products"),
    PARAM_INT_ROW(llm, per_product, "", 1, 16, 3, "instructions for each product of a thread"),
    {0}};

static void llm_close(void *state)
{
    struct llm *s = state;
    pim_program_release(&s->pim);
    pim_ops_release(&s->ops);
    free(s);
}

static int llm_init(struct llm *s, struct err *err)
{
    const uint32_t scale = (uint32_t)s->scale, base = (uint32_t)s->base_row, tile = (uint32_t)s->tile;
    const uint32_t weights = 1024 / scale, rows = 128 / scale, k = WIDTH / scale / tile * tile;
    s->gemm = (struct gemm){.m = ROWS,
                            .n = WIDTH,
                            .k = k ? k : tile,
                            .tile = tile,
                            .launches = PRODUCTS,
                            .registers = (uint32_t)s->registers,
                            .per_product = (uint32_t)s->per_product,
                            .columns_first = s->order,
                            .untiled = !s->shared};
    return gemm_init(&s->gemm, gpu_base, err) || pim_ops_fc(&s->ops, weights, 8, base, err) ||
                   pim_ops_build(&s->ops, pim_kernel_find("softmax"), rows, base + 2048, err) ||
                   pim_ops_fc(&s->ops, weights, 1, base + 2304, err)
               ? -1
               : 0;
}

static int gpu_side(void *state, struct program *program, struct err *err)
{
    return layout_program(&((struct llm *)state)->gemm, program, err);
}

static int pim_side(void *state, struct program *program, struct err *err)
{
    struct llm *s = state;
    return pim_program(&s->pim, &s->ops, "llm", CHANNELS, program, err);
}

WORKLOAD(llm, workload_llm, "llm",
         "collaborative language-model layer: matrix products on the GPU beside PIM kernels, done once",
         "gupta-2025-f3fs section III", workload_new, llm_close, .produces = WORKLOAD_PROGRAM, .views = VIEW_DRAM,
         .program = gpu_side, .beside = pim_side);
