/* rodinia-hotspot: Rodinia's heat of a chip, n x n cells, `height` steps of time in a launch over 16 x 16 tiles.
 *
 *     launch k: it = min(height, iterations - k height); x = (16-2it) bx - height + tx, y likewise
 *     if (0 <= x, y < n) { t = temp[k mod 2][y][x]; p = power[y][x] }; barrier
 *     it times: where i+1 <= tx, ty <= 14-i and in range: new t from its neighbours; barrier; (but the last) barrier
 *     where computed in the last: temp[1 - k mod 2][y][x] = t
 *
 * Arrays, from 0xC0000000 on: temp0, temp1, power (n x n floats); temp0 and power are copied in. The grid is that of it
 * = height, so where iterations < height blocks to the right and below stand outside and only meet their barriers.
 * Worked example, n = 64, height = 4, iterations = 2: 8 x 8 blocks, 12 cells apart from -4 on; those of bx or by = 6
 * stand at 68: nothing. Block 0 loads cells 0 to 11 each way and stores 0 to 9.
 * Defaults: as gupta-2025-f3fs runs it (2048 4 2): one launch, less than half of whose blocks have work.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers, shared memory: the same compiler.
 * order=hoisted: temperature and power, then their uses.
 * Source: Rodinia 3.1, cuda/hotspot/hotspot.cu (calculate_temp, compute_tran_temp).
 * Differs: nothing known. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"
#include "trace/workloads/rodinia/tile.h"

enum { REGISTERS = 35, SHARED = 3 * TILE_THREADS * 4, POWER = 2 };

struct hotspot_params {
    int64_t n, height, iterations, order, compute_ns;
};

struct hotspot {
    struct hotspot_params p;
    struct program_alloc allocs[3];
};

static const struct param hotspot_params[] = {
    PARAM_INT_ROW(hotspot_params, n, "cells", 1, 46340, 2048, "each way; n x n below 2^31"),
    PARAM_INT_ROW(hotspot_params, height, "steps", 1, 7, 4, "of a launch"),
    PARAM_INT_ROW(hotspot_params, iterations, "steps", 1, 1 << 20, 2, "in all"),
    RODINIA_ORDER_ROW(hotspot_params),
    PARAM_NS_AUTO_ROW(hotspot_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *hotspot_open(const void *params, struct err *err)
{
    struct hotspot *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *(const struct hotspot_params *)params;
    uint64_t bytes = (uint64_t)(s->p.n * s->p.n) * 4;
    s->allocs[0] = (struct program_alloc){.name = "temp0", .bytes = bytes, .host = true};
    s->allocs[1] = (struct program_alloc){.name = "temp1", .bytes = bytes};
    s->allocs[POWER] = (struct program_alloc){.name = "power", .bytes = bytes, .host = true};
    program_place(s->allocs, 3, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *hotspot_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct hotspot *)state)->allocs;
}

static uint32_t hotspot_launches(const void *state)
{
    const struct hotspot *s = state;
    return (uint32_t)((s->p.iterations - 1) / s->p.height + 1);
}

/* Blocks each way. */
static int64_t across(const struct hotspot *s)
{
    int64_t stored = TILE - 2 * s->p.height;
    return (s->p.n + stored - 1) / stored;
}

static void hotspot_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct hotspot *s = state;
    (void)launch;
    *out = (struct program_launch){.kernel = "calculate_temp",
                                   .blocks = (uint64_t)(across(s) * across(s)),
                                   .threads = TILE_THREADS,
                                   .registers = REGISTERS,
                                   .shared = SHARED};
}

/* Where a warp stands. */
struct place {
    int64_t x, y; /* cell of lane 0 */
    int64_t ty;   /* of lane 0 */
};

/* Whether cell number `at` of the grid, number `in_tile` of its tile, counts. */
static bool counts(const struct hotspot *s, int64_t at, int64_t in_tile, int64_t edge)
{
    return at >= 0 && at < s->p.n && in_tile >= edge && in_tile < TILE - edge;
}

/* Lanes in the grid with `edge` <= tx, ty <= 15 - edge. */
static uint32_t inside(const struct hotspot *s, const struct place *at, int64_t edge)
{
    int64_t first = edge > -at->x ? edge : -at->x;
    int64_t end = TILE - edge < s->p.n - at->x ? TILE - edge : s->p.n - at->x;
    if (first >= end)
        return 0;
    uint32_t row = program_first_lanes((uint64_t)end) & ~program_first_lanes((uint64_t)first);
    return (counts(s, at->y, at->ty, edge) ? row : 0) | (counts(s, at->y + 1, at->ty + 1, edge) ? row << TILE : 0);
}

static void add_barrier(struct program_body *body, uint32_t before)
{
    program_barrier(body);
    body->access[body->count - 1].before = (uint16_t)before;
}

static struct program_access *add_load(const struct hotspot *s, unsigned array, const struct place *at, uint32_t active,
                                       struct program_body *body)
{
    struct program_access *load = program_load(body, s->allocs, array, (uint64_t)(at->y * s->p.n + at->x) * 4, 4);
    tile_spread(body, load, (uint64_t)s->p.n * 4, 4);
    load->active = active;
    return load;
}

/* The steps, all in shared memory: two barriers each, the last one. */
static void add_steps(const struct hotspot *s, const struct place *at, int64_t steps, struct program_body *body)
{
    for (int64_t i = 0; i < steps; i++) {
        uint32_t computed = inside(s, at, i + 1), work = 13 + (computed ? 26 : 0);
        add_barrier(body, work + (i ? 4 : 57));
        if (i + 1 < steps)
            add_barrier(body, computed ? 6 : 4);
    }
}

static int hotspot_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                        struct err *err)
{
    const struct hotspot *s = run;
    int64_t left = s->p.iterations - (int64_t)launch * s->p.height, steps = left < s->p.height ? left : s->p.height;
    int64_t block = (int64_t)(warp / TILE_WARPS), ty = (int64_t)(warp % TILE_WARPS) * 2, apart = TILE - 2 * steps;
    struct place at = {apart * (block % across(s)) - s->p.height, apart * (block / across(s)) - s->p.height + ty, ty};
    uint32_t loaded = inside(s, &at, 0), stored = inside(s, &at, steps);
    (void)err;
    if (index > 0)
        return 0;
    if (loaded) {
        add_load(s, launch % 2, &at, loaded, body)->before = 34;
        add_load(s, POWER, &at, loaded, body)->before = 3;
        rodinia_order(body, 0, (enum rodinia_order)s->p.order);
    }
    add_barrier(body, loaded ? 1 : 31);
    add_steps(s, &at, steps, body);
    if (stored) {
        struct program_access *store = add_load(s, 1 - launch % 2, &at, stored, body);
        store->kind = RECORD_WRITE;
        store->use = 0;
        store->before = 9;
    }
    body->after = stored ? 1 : 6;
    return 1;
}

static const struct program_ops hotspot_ops = {
    .allocs = hotspot_allocs, .launches = hotspot_launches, .launch = hotspot_launch, .body = hotspot_body};

static int hotspot_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&hotspot_ops, state, ((const struct hotspot *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_hotspot = {
    .name = "rodinia-hotspot",
    .summary = "heat of a chip, a few steps in a launch over overlapping tiles",
    .source = "Rodinia 3.1 cuda/hotspot",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = hotspot_params,
    .params_size = sizeof(struct hotspot_params),
    .open = hotspot_open,
    .close = free,
    .program = hotspot_program,
};
