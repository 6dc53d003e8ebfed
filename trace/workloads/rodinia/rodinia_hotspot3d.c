/* rodinia-hotspot3d: heat of a stack of chips, nx x ny x nz cells, a launch a step of time.
 *
 * Thread (i, j) goes up its column and mixes each cell of in with its six neighbours and power into out. Loads in PTX
 * order: plane 0: c, W, E, S, N, above, power; then, as in[c] and the plane before are in registers, W, E, S, N, above,
 * power; last plane: W, E, S, N, power; each followed by its store. W, E, N and S stay on c at the border. The planes
 * between are a loop unrolled by four. Blocks of 64 x 4 threads, nx / 64 by ny / 4: what is left over is not computed.
 * in and out change places after each launch. What stands between two loops is counted with the last plane.
 * Worked example, 64 x 4 x 2: one block, warp 0 is i = 0 to 31 of row 0: plane 0 loads in[0 to 31], in[0, 0 to 30],
 * in[1 to 32], in[64 to 95], in[0 to 31], in[256 to 287], power[0 to 31], stores out[0 to 31]; plane 1 likewise from
 * 256 on.
 * Source: Rodinia 3.1, cuda/hotspot3D/opt1.cu (hotspotOpt1, hotspot_opt1).
 * Differs: nothing known. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { BLOCK_X = 64, BLOCK_Y = 4, UNROLL = 4, POWER = 0, IN, OUT };

/* Loads of a plane. */
enum { CENTRE, WEST, EAST, SOUTH, NORTH, BELOW, HEAT, LOADS };

struct hotspot3d {
    struct layout layout;
    int64_t nx, ny, nz, iterations;
};

static const struct param hotspot3d_keys[] = {
    PARAM_INT_ROW(hotspot3d, nx, "cells", BLOCK_X, 1 << 24, 512, "in x; nx x ny x nz below 2^31"),
    PARAM_INT_ROW(hotspot3d, ny, "cells", BLOCK_Y, 1 << 24, 512, "in y"),
    PARAM_INT_ROW(hotspot3d, nz, "cells", 2, 1 << 20, 8, "in z"),
    PARAM_INT_ROW(hotspot3d, iterations, "steps", 1, 1 << 20, 10, "of time, a launch each"),
    RODINIA_KEYS("time of a turn of a warp whose data is all at hand")};

/* Instructions before each load of a plane and, last, its store; NONE: it has no such load. */
enum { NONE = 255 };
static const uint8_t first[LOADS + 1] = {30, 2, 4, 3, 3, 2, 4, 4};
static const uint8_t turn[LOADS + 1] = {NONE, 6, 5, 4, 4, 2, 3, 3}; /* the first of four */
static const uint8_t next[LOADS + 1] = {NONE, 4, 3, 2, 2, 2, 2, 3};
static const uint8_t rest[LOADS + 1] = {NONE, 1, 2, 1, 1, 2, 2, 2};
static const uint8_t last[LOADS + 1] = {NONE, 3, 4, 3, 3, NONE, 5, 3};

/* One lane stays where the border is: an element on, or back, from where the others' stride would have it. */
static void clamp(const struct emit *e, struct program_access *a, unsigned which, int64_t by)
{
    uint64_t *lane = program_scatter(e->body, a);
    for (uint64_t l = 0; l < PROGRAM_LANES; l++)
        lane[l] = a->addr + 4 * l;
    lane[which] += by * 4;
}

/* Plane k of the warp's 32 cells of one row. */
static void plane(const struct emit *e, int64_t k, const uint8_t *before)
{
    const struct hotspot3d *s = e->state;
    int64_t nx = s->nx, ny = s->ny, across = nx / BLOCK_X, block = e->at.block;
    int64_t i = block % across * BLOCK_X + (int64_t)(e->at.warp % 2) * PROGRAM_LANES,
            j = block / across * BLOCK_Y + e->at.warp / 2;
    int64_t c = i + nx * (j + ny * k), south = j == ny - 1 ? 0 : nx, north = j == 0 ? 0 : -nx;
    const int64_t apart[LOADS] = {0, -1, 1, south, north, nx * ny, 0};
    unsigned in = e->launch % 2 ? OUT : IN, out = e->launch % 2 ? IN : OUT;
    uint32_t start = e->body->count;
    for (unsigned l = 0; l < LOADS; l++) {
        if (before[l] == NONE)
            continue;
        struct program_access *a = emit_load(e, l == HEAT ? POWER : in, c + apart[l], before[l], l == CENTRE ? 5 : 1);
        if (l == WEST && i == 0)
            clamp(e, a, 0, 1);
        if (l == EAST && i + PROGRAM_LANES == nx)
            clamp(e, a, PROGRAM_LANES - 1, -1);
    }
    emit_hoist(e, start);
    emit_store(e, out, c, before[LOADS]);
}

/* The first plane; a body for each part of the loop over those between; the last plane. */
static int hotspot_opt1(struct emit *e)
{
    const struct hotspot3d *s = e->state;
    struct program_loop loop = {.trips = s->nz - 2, .active = UINT32_MAX, .unroll = UNROLL};
    struct program_part part;
    if (e->index == 0) {
        plane(e, 0, first);
        return emit_end(e, loop.trips >= UNROLL ? 23 : loop.trips ? 33 : 6);
    }
    if (program_loop_part(&loop, e->index - 1, &part)) {
        for (uint32_t k = 0; k < part.trips; k++)
            plane(e, 1 + part.first + k, part.trips == 1 ? rest : k ? next : turn);
        emit_turns(e, part.turns, s->nx * s->ny * part.trips);
        return emit_end(e, part.trips == 1 ? 17 : 6);
    }
    if (e->index > 1 && !program_loop_part(&loop, e->index - 2, &part))
        return 0; /* the one before was the last */
    plane(e, s->nz - 1, last);
    if (loop.trips >= UNROLL)
        e->body->access[0].before = (uint16_t)(e->body->access[0].before + (loop.trips % UNROLL ? 25 : 6));
    return emit_end(e, 1);
}

static int hotspot3d_init(struct hotspot3d *s, struct err *err)
{
    if ((__int128)s->nx * s->ny * s->nz > INT32_MAX)
        return err_set(err, "rodinia-hotspot3d: %lld x %lld x %lld cells; the kernel counts them in an int",
                       (long long)s->nx, (long long)s->ny, (long long)s->nz);
    uint64_t bytes = s->nx * s->ny * s->nz * 4;
    LAYOUT_ARRAYS(&s->layout, {"+power|in", bytes}, {"out", bytes});
    for (int way = 0; way < 2; way++) /* to OUT, and back */
        layout_kernel(&s->layout, hotspot_opt1, "hotspotOpt1", s->nx / BLOCK_X * (s->ny / BLOCK_Y), BLOCK_X * BLOCK_Y,
                      40, 0);
    s->layout.alike = true;
    s->layout.launches = (uint32_t)s->iterations;
    return 0;
}

RODINIA(hotspot3d, "hotspot3d", "hotspot3D", "heat of a stack of chips, a stencil of seven points, a launch a step",
        free);
