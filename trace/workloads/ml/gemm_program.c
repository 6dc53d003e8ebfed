#include "trace/workloads/ml/gemm_program.h"

#include <stdio.h>

enum { FLOAT = 4, ALIGN = 256, PROLOGUE = 20, PER_TILE = 6, UNROLL = 4 };

int gemm_init(struct gemm *g, uint64_t base, struct err *err)
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

const struct program_ops gemm_ops = {.allocs = allocs, .launches = launches, .launch = launch, .body = body};
