/* rodinia-hotspot3d: Rodinia's heat of a stack of chips, nx x ny x nz cells, a launch a step of time.
 *
 *     thread (i, j), c = i + nx (j + ny k), for k = 0 to nz - 1:
 *         out[c] = mix of in[c], in[west], in[east], in[south], in[north], in[below], in[above], power[c]
 *
 * Loads in PTX order: plane 0: c, W, E, S, N, c + nx ny, power; then, as in[c] and the plane before are in registers,
 * W, E, S, N, c + nx ny, power; last plane: W, E, S, N, power; each followed by its store. W, E, N and S stay on c at
 * the border. The planes between are a loop unrolled by four. Blocks of 64 x 4 threads, nx / 64 by ny / 4: what is left
 * over is not computed. Arrays, from 0xC0000000 on: power, in, out (copied in: the first two); in and out change places
 * after each launch. Defaults: as gupta-2025-f3fs runs it (512 8 10).
 * Worked example, 64 x 4 x 2: one block, warp 0 is i = 0 to 31 of row 0: plane 0 loads in[0 to 31], in[0, 0 to 30],
 * in[1 to 32], in[64 to 95], in[0 to 31], in[256 to 287], power[0 to 31], stores out[0 to 31]; plane 1 likewise from
 * 256 on.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers: the same compiler.
 * What stands between two loops is counted with the last plane. order=hoisted: the loads of a plane, then their uses:
 * the store before may write what they read, for all that the compiler knows.
 * Source: Rodinia 3.1, cuda/hotspot3D/opt1.cu (hotspotOpt1, hotspot_opt1).
 * Differs: nothing known. */
#include <stdlib.h>

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { BLOCK_X = 64, BLOCK_Y = 4, UNROLL = 4, POWER = 0, IN, OUT };

/* Loads of a plane. */
enum { CENTRE, WEST, EAST, SOUTH, NORTH, BELOW, HEAT, LOADS };

struct hotspot3d_params {
    int64_t nx, ny, nz, iterations, order, compute_ns;
};

struct hotspot3d {
    struct plan plan;
    struct hotspot3d_params p;
};

static const struct param hotspot3d_params[] = {
    PARAM_INT_ROW(hotspot3d_params, nx, "cells", BLOCK_X, 1 << 24, 512, "in x; nx x ny x nz below 2^31"),
    PARAM_INT_ROW(hotspot3d_params, ny, "cells", BLOCK_Y, 1 << 24, 512, "in y"),
    PARAM_INT_ROW(hotspot3d_params, nz, "cells", 2, 1 << 20, 8, "in z"),
    PARAM_INT_ROW(hotspot3d_params, iterations, "steps", 1, 1 << 20, 10, "of time, a launch each"),
    RODINIA_ORDER_ROW(hotspot3d_params),
    PARAM_NS_AUTO_ROW(hotspot3d_params, compute_ns, 0, 1e9, "time of a turn of a warp whose data is all at hand"),
    {0}};

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
    lane[which] += (uint64_t)(by * 4);
}

/* Plane k of the warp's 32 cells of one row. */
static void plane(const struct emit *e, int64_t k, const uint8_t *before)
{
    const struct hotspot3d *s = e->state;
    int64_t nx = s->p.nx, ny = s->p.ny, across = nx / BLOCK_X, block = (int64_t)e->at.block;
    int64_t i = block % across * BLOCK_X + e->at.warp % 2 * PROGRAM_LANES,
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
    struct program_loop loop = {.trips = (uint64_t)s->p.nz - 2, .active = UINT32_MAX, .unroll = UNROLL};
    struct program_part part;
    if (e->index == 0) {
        plane(e, 0, first);
        return emit_end(e, loop.trips >= UNROLL ? 23 : loop.trips ? 33 : 6);
    }
    if (program_loop_part(&loop, e->index - 1, &part)) {
        for (uint32_t k = 0; k < part.trips; k++)
            plane(e, 1 + (int64_t)part.first + k, part.trips == 1 ? rest : k ? next : turn);
        emit_turns(e, part.turns, s->p.nx * s->p.ny * part.trips);
        return emit_end(e, part.trips == 1 ? 17 : 6);
    }
    if (e->index > 1 && !program_loop_part(&loop, e->index - 2, &part))
        return 0; /* the one before was the last */
    plane(e, s->p.nz - 1, last);
    if (loop.trips >= UNROLL)
        e->body->access[0].before += loop.trips % UNROLL ? 25 : 6;
    return emit_end(e, 1);
}

static uint32_t like(const void *state, uint32_t launch)
{
    (void)state;
    return launch % 2;
}

static void *hotspot3d_open(const void *params, struct err *err)
{
    const struct hotspot3d_params *p = params;
    if ((__int128)p->nx * p->ny * p->nz > INT32_MAX) {
        err_set(err, "rodinia-hotspot3d: %lld x %lld x %lld cells; the kernel counts them in an int", (long long)p->nx,
                (long long)p->ny, (long long)p->nz);
        return NULL;
    }
    struct hotspot3d *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    s->p = *p;
    uint64_t bytes = (uint64_t)(p->nx * p->ny * p->nz) * 4;
    plan_input(&s->plan, "power", bytes);
    plan_input(&s->plan, "in", bytes);
    plan_array(&s->plan, "out", bytes);
    plan_kernel(&s->plan, hotspot_opt1, "hotspotOpt1", (uint64_t)(p->nx / BLOCK_X * (p->ny / BLOCK_Y)),
                BLOCK_X * BLOCK_Y, 40, 0);
    s->plan.like = like;
    s->plan.launches = (uint32_t)p->iterations;
    return s;
}

const struct workload_type workload_rodinia_hotspot3d = {
    .name = "rodinia-hotspot3d",
    .summary = "heat of a stack of chips, a stencil of seven points, a launch a step",
    .source = "Rodinia 3.1 cuda/hotspot3D",
    WORKLOAD_WITH_KEYS(hotspot3d),
    .close = free,
    .program = plan_program,
};
