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

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"

enum { BLOCK_X = 64, BLOCK_Y = 4, WARPS = BLOCK_X * BLOCK_Y / PROGRAM_LANES, UNROLL = 4, REGISTERS = 40 };
enum { POWER, IN, OUT };

/* Loads of a plane. */
enum { CENTRE, WEST, EAST, SOUTH, NORTH, BELOW, HEAT, LOADS };

struct hotspot3d_params {
    int64_t nx, ny, nz, iterations, order, compute_ns;
};

struct hotspot3d {
    struct hotspot3d_params p;
    struct program_alloc allocs[3];
};

static const struct param hotspot3d_params[] = {
    PARAM_INT_ROW(hotspot3d_params, nx, "cells", BLOCK_X, 1 << 24, 512, "in x; nx x ny x nz below 2^31"),
    PARAM_INT_ROW(hotspot3d_params, ny, "cells", BLOCK_Y, 1 << 24, 512, "in y"),
    PARAM_INT_ROW(hotspot3d_params, nz, "cells", 2, 1 << 20, 8, "in z"),
    PARAM_INT_ROW(hotspot3d_params, iterations, "steps", 1, 1 << 20, 10, "of time, a launch each"),
    RODINIA_ORDER_ROW(hotspot3d_params),
    PARAM_NS_AUTO_ROW(hotspot3d_params, compute_ns, 0, 1e9, "time of a turn of a warp whose data is all at hand"),
    {0}};

static void *hotspot3d_open(const void *params, struct err *err)
{
    const struct hotspot3d_params *p = params;
    if ((__int128)p->nx * p->ny * p->nz > INT32_MAX) {
        err_set(err, "rodinia-hotspot3d: %lld x %lld x %lld cells; the kernel counts them in an int", (long long)p->nx,
                (long long)p->ny, (long long)p->nz);
        return NULL;
    }
    struct hotspot3d *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *p;
    uint64_t bytes = (uint64_t)(p->nx * p->ny * p->nz) * 4;
    s->allocs[POWER] = (struct program_alloc){.name = "power", .bytes = bytes, .host = true};
    s->allocs[IN] = (struct program_alloc){.name = "in", .bytes = bytes, .host = true};
    s->allocs[OUT] = (struct program_alloc){.name = "out", .bytes = bytes};
    program_place(s->allocs, 3, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *hotspot3d_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct hotspot3d *)state)->allocs;
}

static uint32_t hotspot3d_launches(const void *state)
{
    return (uint32_t)((const struct hotspot3d *)state)->p.iterations;
}

static void hotspot3d_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct hotspot3d *s = state;
    (void)launch;
    *out = (struct program_launch){.kernel = "hotspotOpt1",
                                   .blocks = (uint64_t)(s->p.nx / BLOCK_X * (s->p.ny / BLOCK_Y)),
                                   .threads = BLOCK_X * BLOCK_Y,
                                   .registers = REGISTERS};
}

/* Where a warp stands, and in which launch. */
struct place {
    int64_t i, j; /* of lane 0; 32 cells of one row */
    unsigned in, out;
};

/* Instructions before each load of a plane and, last, its store; NONE: it has no such load. */
enum { NONE = 255 };
static const uint8_t first[LOADS + 1] = {30, 2, 4, 3, 3, 2, 4, 4};
static const uint8_t turn[LOADS + 1] = {NONE, 6, 5, 4, 4, 2, 3, 3}; /* the first of four */
static const uint8_t next[LOADS + 1] = {NONE, 4, 3, 2, 2, 2, 2, 3};
static const uint8_t rest[LOADS + 1] = {NONE, 1, 2, 1, 1, 2, 2, 2};
static const uint8_t last[LOADS + 1] = {NONE, 3, 4, 3, 3, NONE, 5, 3};

/* One lane stays where the border is: `by` bytes from where the others' stride would have it. */
static void clamp(struct program_body *body, struct program_access *a, unsigned which, int64_t by)
{
    uint64_t *lane = program_scatter(body, a);
    for (uint64_t l = 0; l < PROGRAM_LANES; l++)
        lane[l] = a->addr + 4 * l;
    lane[which] += (uint64_t)by;
}

static void add_plane(const struct hotspot3d *s, const struct place *at, int64_t k, const uint8_t *before,
                      struct program_body *body)
{
    int64_t nx = s->p.nx, xy = nx * s->p.ny, c = at->i + nx * at->j + xy * k;
    int64_t south = at->j == s->p.ny - 1 ? 0 : nx, north = at->j == 0 ? 0 : -nx;
    const int64_t apart[LOADS] = {0, -1, 1, south, north, xy, 0};
    uint32_t start = body->count;
    for (unsigned l = 0; l < LOADS; l++) {
        if (before[l] == NONE)
            continue;
        uint64_t byte = (uint64_t)(c + apart[l]) * 4;
        struct program_access *a = program_load(body, s->allocs, l == HEAT ? POWER : at->in, byte, 4);
        a->before = before[l];
        a->use = l == CENTRE ? 5 : 1;
        if (l == WEST && at->i == 0)
            clamp(body, a, 0, 4);
        if (l == EAST && at->i + PROGRAM_LANES == nx)
            clamp(body, a, PROGRAM_LANES - 1, -4);
    }
    rodinia_order(body, start, (enum rodinia_order)s->p.order);
    program_store(body, s->allocs, at->out, (uint64_t)c * 4, 4)->before = before[LOADS];
}

/* A part of the loop over the planes between the first and the last. */
static void add_part(const struct hotspot3d *s, const struct place *at, const struct program_part *part,
                     struct program_body *body)
{
    int64_t plane_bytes = s->p.nx * s->p.ny * 4;
    for (uint32_t trip = 0; trip < part->trips; trip++)
        add_plane(s, at, 1 + (int64_t)part->first + trip, part->trips == 1 ? rest : trip ? next : turn, body);
    for (uint32_t i = 0; i < body->count; i++)
        body->access[i].turn_stride = plane_bytes * part->trips;
    body->turns = part->turns;
    body->after = part->trips == 1 ? 17 : 6;
}

static int hotspot3d_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                          struct err *err)
{
    const struct hotspot3d *s = run;
    int64_t across = s->p.nx / BLOCK_X, block = (int64_t)(warp / WARPS), w = (int64_t)(warp % WARPS);
    struct place at = {block % across * BLOCK_X + w % 2 * PROGRAM_LANES, block / across * BLOCK_Y + w / 2,
                       launch % 2 ? OUT : IN, launch % 2 ? IN : OUT};
    struct program_loop loop = {.trips = (uint64_t)s->p.nz - 2, .active = 0xffffffff, .unroll = UNROLL};
    struct program_part part;
    (void)err;
    if (index == 0) {
        add_plane(s, &at, 0, first, body);
        body->after = loop.trips >= UNROLL ? 23 : loop.trips ? 33 : 6;
        return 1;
    }
    if (program_loop_part(&loop, index - 1, &part)) {
        add_part(s, &at, &part, body);
        return 1;
    }
    if (index > 1 && !program_loop_part(&loop, index - 2, &part))
        return 0; /* the one before was the last */
    add_plane(s, &at, s->p.nz - 1, last, body);
    if (loop.trips >= UNROLL)
        body->access[0].before += loop.trips % UNROLL ? 25 : 6;
    body->after = 1;
    return 1;
}

static const struct program_ops hotspot3d_ops = {
    .allocs = hotspot3d_allocs, .launches = hotspot3d_launches, .launch = hotspot3d_launch, .body = hotspot3d_body};

static int hotspot3d_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&hotspot3d_ops, state, ((const struct hotspot3d *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_hotspot3d = {
    .name = "rodinia-hotspot3d",
    .summary = "heat of a stack of chips, a stencil of seven points, a launch a step",
    .source = "Rodinia 3.1 cuda/hotspot3D",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = hotspot3d_params,
    .params_size = sizeof(struct hotspot3d_params),
    .open = hotspot3d_open,
    .close = free,
    .program = hotspot3d_program,
};
