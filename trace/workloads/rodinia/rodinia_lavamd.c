/* rodinia-lavamd: forces among the particles of neighbouring boxes, a block of 128 threads for each box of 100.
 *
 * boxes^3 boxes, number z boxes^2 + y boxes + x; a box's neighbours are the up to 26 around it, z, then y, then x
 * ascending. Doubles; a box is 656 B: offset (8 B) at 16, nn at 24, neighbour j's number at 44 + 24 j; a particle 32
 * B of RV (v, x, y, z) and of FV, 8 B of QV. Block b, threads p < 100 for particles, all for boxes:
 *     BOX[b].offset; RV[100 b + p], its four fields; BOX[b].nn; barrier
 *     for k = 0 to nn: (k > 0: BOX[b].neighbour number k-1;) q = b or that; BOX[q].offset; RV[100 q + p], four;
 *         QV[100 q + p]; barrier; FV[100 b + p], four; 100 particles; stores of FV, four; barrier; BOX[b].nn
 * Lanes lie 32 B apart, so each load of a field touches 32 sectors, the same for all four. Arrays BOX, RV, QV, FV on
 * 256 B from 0xC0000000 on; the CPU has written all.
 * Worked example: boxes = 2: 7 neighbours each; a warp loads 6 times, then 8 times 11, and 7 numbers: 101.
 * Uses: fields of RV are loaded one behind the other, each used 4 instructions later; all else by the next, two
 * instructions before it: assumed. 54 instructions a particle (9 loads of shared memory, 45 of double arithmetic).
 * Source: Rodinia 3.1, cuda/lavaMD/kernel/kernel_gpu_cuda.cu, main.h (structs), main.c (neighbours); boxes = 10: the
 * F3FS artifact (-boxes1d 10); registers, shared memory: nvcc 13.0 -O3 for compute capability 7.5.
 * Differs: nothing known. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/rodinia/emit.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 128, WARPS = THREADS / PROGRAM_LANES, PARTICLES = 100, ARITHMETIC = 54 * PARTICLES };
enum { BOX_WORDS = 656 / 4, OFFSET = 16 / 8, NN = 24 / 4, NUMBER = 44 / 4, NEIGHBOUR = 24 / 4 };
enum { BOX, RV, QV, FV, ARRAYS };

struct lavamd_params {
    int64_t boxes, order, compute_ns;
};

struct lavamd {
    struct lavamd_params p;
    struct program_alloc allocs[ARRAYS];
};

static const struct param lavamd_params[] = {
    PARAM_INT_ROW(lavamd_params, boxes, "", 1, 1 << 9, 10, "in each of three directions"),
    RODINIA_ORDER_ROW(lavamd_params),
    PARAM_NS_AUTO_ROW(lavamd_params, compute_ns, 0, 1e9, "time of a warp's box, its data at hand"),
    {0}};

static void *lavamd_open(const void *params, struct err *err)
{
    struct lavamd *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *(const struct lavamd_params *)params;
    uint64_t boxes = (uint64_t)(s->p.boxes * s->p.boxes * s->p.boxes), particles = boxes * PARTICLES;
    const struct program_alloc arrays[ARRAYS] = {{.name = "box", .bytes = boxes * BOX_WORDS * 4, .host = true},
                                                 {.name = "rv", .bytes = particles * 32, .host = true},
                                                 {.name = "qv", .bytes = particles * 8, .host = true},
                                                 {.name = "fv", .bytes = particles * 32, .host = true}};
    for (unsigned i = 0; i < ARRAYS; i++)
        s->allocs[i] = arrays[i];
    program_place(s->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *lavamd_allocs(const void *state, size_t *n)
{
    *n = ARRAYS;
    return ((const struct lavamd *)state)->allocs;
}

static uint32_t lavamd_launches(const void *state)
{
    (void)state;
    return 1;
}

static void lavamd_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    int64_t boxes = ((const struct lavamd *)state)->p.boxes;
    (void)launch;
    *out = (struct program_launch){.kernel = "kernel_gpu_cuda",
                                   .blocks = (uint64_t)(boxes * boxes * boxes),
                                   .threads = THREADS,
                                   .registers = 64,
                                   .shared = 7200};
}

/* Box number k of those that box b looks at: itself, then its neighbours; -1: there are no more. */
static int64_t looked_at(int64_t boxes, int64_t b, int64_t k)
{
    int64_t x = b % boxes, y = b / boxes % boxes, z = b / boxes / boxes;
    if (k == 0)
        return b;
    for (int64_t i = 0; i < 27; i++) {
        int64_t u = x + i % 3 - 1, v = y + i / 3 % 3 - 1, w = z + i / 9 - 1;
        bool in = u >= 0 && v >= 0 && w >= 0 && u < boxes && v < boxes && w < boxes;
        if (in && i != 13 && --k == 0)
            return (w * boxes + v) * boxes + u;
    }
    return -1;
}

/* What all threads load of a box: a field of 4 or 8 bytes. */
static void of_box(const struct emit *e, int64_t box, int64_t field, uint32_t bytes)
{
    struct emit all = *e;
    all.active = 0xffffffffu;
    all.bytes = bytes;
    (void)emit_same(emit_load(&all, BOX, box * BOX_WORDS * 4 / bytes + field, 2, 1));
}

/* The four fields of the particles from number `first` on. */
static void particles(const struct emit *e, unsigned array, int64_t first, bool together)
{
    for (unsigned k = 0; k < 4; k++)
        (void)emit_apart(emit_load(e, array, 4 * first + k, together && k ? 0 : 2, together ? 4 : 1), 4);
}

static void look_at(const struct lavamd *s, const struct emit *e, int64_t own, int64_t other, int64_t b, int64_t k,
                    int64_t box)
{
    if (k > 0)
        of_box(e, b, NUMBER + NEIGHBOUR * (k - 1), 4);
    of_box(e, box, OFFSET, 8);
    uint32_t loads = e->body->count;
    particles(e, RV, other, true);
    (void)emit_load(e, QV, other, 2, 1);
    rodinia_order(e->body, loads, (enum rodinia_order)s->p.order);
    emit_barrier(e, 2);
    loads = e->body->count;
    particles(e, FV, own, false);
    rodinia_order(e->body, loads, (enum rodinia_order)s->p.order);
    for (unsigned field = 0; field < 4; field++)
        (void)emit_apart(emit_store(e, FV, 4 * own + field, field ? 0 : ARITHMETIC), 4);
    emit_barrier(e, 1);
    of_box(e, b, NN, 4);
    e->body->after = 3;
}

static int lavamd_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                       struct err *err)
{
    const struct lavamd *s = run;
    int64_t b = (int64_t)(warp / WARPS), p = (int64_t)(warp % WARPS) * PROGRAM_LANES;
    struct emit e = emit_to(body, s->allocs, program_first_lanes((uint64_t)(PARTICLES - p)));
    (void)launch;
    (void)err;
    e.bytes = 8;
    if (index == 0) {
        of_box(&e, b, OFFSET, 8);
        particles(&e, RV, PARTICLES * b + p, true);
        of_box(&e, b, NN, 4);
        emit_barrier(&e, 2);
        return 1;
    }
    int64_t box = looked_at(s->p.boxes, b, index - 1);
    if (box < 0)
        return 0;
    look_at(s, &e, PARTICLES * b + p, PARTICLES * box + p, b, index - 1, box);
    return 1;
}

static const struct program_ops lavamd_ops = {
    .allocs = lavamd_allocs, .launches = lavamd_launches, .launch = lavamd_launch, .body = lavamd_body};

static int lavamd_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&lavamd_ops, state, ((const struct lavamd *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_lavamd = {
    .name = "rodinia-lavamd",
    .summary = "forces among particles of neighbouring boxes, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/lavaMD",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = lavamd_params,
    .params_size = sizeof(struct lavamd_params),
    .open = lavamd_open,
    .close = free,
    .program = lavamd_program,
};
