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

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { TILE = 16, THREADS = TILE * TILE, POWER = 2 };

struct hotspot_params {
    int64_t n, height, iterations, order, compute_ns;
};

struct hotspot {
    struct plan plan;
    struct hotspot_params p;
    int64_t across; /* blocks each way */
};

static const struct param hotspot_params[] = {
    PARAM_INT_ROW(hotspot_params, n, "cells", 1, 46340, 2048, "each way; n x n below 2^31"),
    PARAM_INT_ROW(hotspot_params, height, "steps", 1, 7, 4, "of a launch"),
    PARAM_INT_ROW(hotspot_params, iterations, "steps", 1, 1 << 20, 2, "in all"),
    RODINIA_ORDER_ROW(hotspot_params),
    PARAM_NS_AUTO_ROW(hotspot_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

/* Where a warp stands. */
struct place {
    int64_t x, y; /* cell of lane 0 */
    int64_t ty;   /* of lane 0 */
};

/* Whether cell number `at` of the grid, number `in_tile` of its tile, counts. */
static bool counts(int64_t n, int64_t at, int64_t in_tile, int64_t edge)
{
    return at >= 0 && at < n && in_tile >= edge && in_tile < TILE - edge;
}

/* Lanes in the grid with `edge` <= tx, ty <= 15 - edge. */
static uint32_t inside(int64_t n, const struct place *at, int64_t edge)
{
    int64_t first = edge > -at->x ? edge : -at->x, end = TILE - edge < n - at->x ? TILE - edge : n - at->x;
    if (first >= end)
        return 0;
    uint32_t row = program_first_lanes((uint64_t)end) & ~program_first_lanes((uint64_t)first);
    return (counts(n, at->y, at->ty, edge) ? row : 0) | (counts(n, at->y + 1, at->ty + 1, edge) ? row << TILE : 0);
}

static int calculate_temp(struct emit *e)
{
    const struct hotspot *s = e->state;
    int64_t n = s->p.n, left = s->p.iterations - (int64_t)e->launch * s->p.height;
    int64_t it = left < s->p.height ? left : s->p.height, apart = TILE - 2 * it, ty = e->at.warp * 2;
    int64_t bx = (int64_t)e->at.block % s->across, by = (int64_t)e->at.block / s->across;
    struct place at = {apart * bx - s->p.height, apart * by - s->p.height + ty, ty};
    uint32_t loaded = inside(n, &at, 0), stored = inside(n, &at, it);
    unsigned source = e->launch % 2, destination = 1 - source;
    e->active = loaded;
    if (loaded) {
        emit_tile(e, emit_load(e, source, at.y * n + at.x, 34, 1), TILE, n, 1);
        emit_tile(e, emit_load(e, POWER, at.y * n + at.x, 3, 1), TILE, n, 1);
        emit_hoist(e, 0);
    }
    emit_barrier(e, loaded ? 1 : 31);
    for (int64_t i = 0; i < it; i++) { /* in shared memory: two barriers each, the last one */
        bool computed = inside(n, &at, i + 1);
        emit_barrier(e, 13u + (computed ? 26 : 0) + (i ? 4 : 57));
        if (i + 1 < it)
            emit_barrier(e, computed ? 6 : 4);
    }
    e->active = stored;
    if (stored)
        emit_tile(e, emit_store(e, destination, at.y * n + at.x, 9), TILE, n, 1);
    return emit_end(e, stored ? 1 : 6);
}

static void *hotspot_open(const void *params, struct err *err)
{
    const struct hotspot_params *p = params;
    struct hotspot *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->across = (int64_t)plan_blocks((uint64_t)p->n, TILE - 2 * (uint32_t)p->height);
    uint64_t bytes = (uint64_t)(p->n * p->n) * 4;
    plan_input(&s->plan, "temp0", bytes);
    plan_array(&s->plan, "temp1", bytes);
    plan_input(&s->plan, "power", bytes);
    plan_straight(&s->plan, calculate_temp, "calculate_temp", (uint64_t)(s->across * s->across), THREADS, 35,
                  3 * THREADS * 4);
    s->plan.launches = (uint32_t)((p->iterations - 1) / p->height + 1);
    return s;
}

const struct workload_type workload_rodinia_hotspot = {
    .name = "rodinia-hotspot",
    .summary = "heat of a chip, a few steps in a launch over overlapping tiles",
    .source = "Rodinia 3.1 cuda/hotspot",
    WORKLOAD_WITH_KEYS(hotspot),
    .close = free,
    .program = plan_program,
};
