/* rodinia-hotspot: heat of a chip, n x n cells, `height` steps of time in a launch over 16 x 16 tiles.
 *
 * Launch k makes it = min(height, iterations - k height) steps; tiles lie 16 - 2 it cells apart from -height on. A
 * thread in the grid loads temp[k mod 2] and power; in step i those within i + 1 of their tile's edge rest; what the
 * last step computes goes to temp[1 - k mod 2]. The grid is that of it = height: where iterations < height, blocks to
 * the right and below stand outside and only meet their barriers.
 * Worked example, n = 64, height = 4, iterations = 2: 8 x 8 blocks, 12 cells apart from -4 on; those of bx or by = 6
 * stand at 68: nothing. Block 0 loads cells 0 to 11 each way and stores 0 to 9.
 * Source: Rodinia 3.1, cuda/hotspot/hotspot.cu (calculate_temp, compute_tran_temp).
 * Differs: nothing known. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { TILE = 16, THREADS = TILE * TILE, POWER = 2 };

struct hotspot {
    struct layout layout;
    int64_t n, height, iterations;
    int64_t across; /* blocks each way */
};

static const struct param hotspot_keys[] = {
    PARAM_INT_ROW(hotspot, n, "cells", 1, 46340, 2048, "each way; n x n below 2^31"),
    PARAM_INT_ROW(hotspot, height, "steps", 1, 7, 4, "of a launch"),
    PARAM_INT_ROW(hotspot, iterations, "steps", 1, 1 << 20, 2, "in all"),
    RODINIA_KEYS("time of a warp whose data is all at hand")};

/* Cells of 16 in a row from x on that lie in the grid and `edge` within their tile. */
static uint32_t row(int64_t n, int64_t x, int64_t edge)
{
    int64_t first = edge > -x ? edge : -x, end = TILE - edge < n - x ? TILE - edge : n - x;
    return first < end ? program_first_lanes(end) & ~program_first_lanes(first) : 0;
}

/* Lanes with `edge` <= tx, ty <= 15 - edge whose cell, (x, y) for lane 0, is in the grid. */
static uint32_t inside(int64_t n, int64_t x, int64_t y, int64_t ty, int64_t edge)
{
    uint32_t lanes = row(n, x, edge), rows = row(n, y - ty, edge) >> ty;
    return (rows & 1 ? lanes : 0) | (rows & 2 ? lanes << TILE : 0);
}

static int calculate_temp(struct emit *e)
{
    const struct hotspot *s = e->state;
    int64_t n = s->n, left = s->iterations - e->launch * s->height, it = left < s->height ? left : s->height;
    int64_t ty = (int64_t)e->at.warp * 2, bx = (int64_t)e->at.block % s->across, by = (int64_t)e->at.block / s->across;
    int64_t x = (TILE - 2 * it) * bx - s->height, y = (TILE - 2 * it) * by - s->height + ty;
    uint32_t loaded = inside(n, x, y, ty, 0), stored = inside(n, x, y, ty, it);
    e->active = loaded;
    if (loaded) {
        emit_tile(e, emit_load(e, e->launch % 2, y * n + x, 34, 1), TILE, n, 1);
        emit_tile(e, emit_load(e, POWER, y * n + x, 3, 1), TILE, n, 1);
        emit_hoist(e, 0);
    }
    emit_barrier(e, loaded ? 1 : 31);
    for (int64_t i = 0; i < it; i++) { /* in shared memory: two barriers each, the last one */
        bool computed = inside(n, x, y, ty, i + 1);
        emit_barrier(e, 13u + (computed ? 26 : 0) + (i ? 4 : 57));
        if (i + 1 < it)
            emit_barrier(e, computed ? 6 : 4);
    }
    e->active = stored;
    if (stored)
        emit_tile(e, emit_store(e, 1 - e->launch % 2, y * n + x, 9), TILE, n, 1);
    return emit_end(e, stored ? 1 : 6);
}

static int hotspot_init(struct hotspot *s, struct err *err)
{
    uint64_t bytes = s->n * s->n * 4;
    (void)err;
    s->across = layout_blocks(s->n, TILE - 2 * (uint32_t)s->height);
    LAYOUT_ARRAYS(&s->layout, {"+temp0", bytes}, {"temp1", bytes}, {"+power", bytes});
    layout_straight(&s->layout, calculate_temp, "calculate_temp", s->across * s->across, THREADS, 35, 3 * THREADS * 4);
    s->layout.launches = (uint32_t)((s->iterations - 1) / s->height + 1);
    return 0;
}

RODINIA(hotspot, "hotspot", "hotspot", "heat of a chip, a few steps in a launch over overlapping tiles", free);
