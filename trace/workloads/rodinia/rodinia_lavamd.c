/* rodinia-lavamd: forces among the particles of neighbouring boxes, a block of 128 threads for each box of 100.
 *
 * boxes^3 boxes, number z boxes^2 + y boxes + x; neighbours are the up to 26 around, z, then y, then x ascending.
 * Doubles; a box is 656 B: offset (8 B) at 16, nn at 24, neighbour j's number at 44 + 24 j; a particle 32 B of RV (v,
 * x, y, z) and of FV, 8 B of QV: each load of a field touches 32 sectors, the same for all four.
 * Worked example: boxes = 2: 7 neighbours each; a warp loads 6 times, then 8 times 11, and 7 numbers: 101.
 * Uses: fields of RV are loaded one behind the other, each used 4 instructions later; all else assumed. 54 instructions
 * a particle (9 loads of shared memory, 45 of double arithmetic).
 * Source: Rodinia 3.1, cuda/lavaMD/kernel/kernel_gpu_cuda.cu, main.h (structs), main.c (neighbours); boxes = 10: the
 * F3FS artifact (-boxes1d 10).
 * Differs: nothing known. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 128, PARTICLES = 100, ARITHMETIC = 54 * PARTICLES };
enum { BOX_WORDS = 656 / 4, OFFSET = 16 / 8, NN = 24 / 4, NUMBER = 44 / 4, NEIGHBOUR = 24 / 4 };
enum { BOX, RV, QV, FV };

struct lavamd {
    struct layout layout;
    int64_t boxes;
};

static const struct param lavamd_keys[] = {
    PARAM_INT_ROW(lavamd, boxes, "", 1, 1 << 9, 10, "in each of three directions"),
    RODINIA_KEYS("time of a warp's box, its data at hand")};

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
    struct emit all = emit_of(e, bytes);
    all.active = UINT32_MAX;
    emit_same(emit_load(&all, BOX, box * BOX_WORDS * 4 / bytes + field, 2, 1));
}

/* The four fields of the lanes' particles of a box: loads, `before` the first and `between`; or stores. */
static void fields(const struct emit *e, unsigned array, int64_t particle, unsigned before, unsigned between,
                   unsigned use)
{
    for (unsigned k = 0; k < 4; k++) {
        struct program_access *a = emit_load(e, array, 4 * particle + k, k ? between : before, use);
        emit_apart(use ? a : emit_as(a, RECORD_WRITE), 4);
    }
}

/* Body 0: the block's own box; then one for each box q that it looks at. */
static int lavamd_kernel(struct emit *threads)
{
    int64_t b = threads->at.block, p = (int64_t)threads->at.warp * PROGRAM_LANES, k = (int64_t)threads->index - 1;
    struct emit doubles = emit_of(threads, 8), *e = &doubles;
    e->active &= program_first_lanes(PARTICLES - p);
    if (k < 0) {
        of_box(e, b, OFFSET, 8);
        fields(e, RV, PARTICLES * b + p, 2, 0, 4);
        of_box(e, b, NN, 4);
        emit_barrier(e, 2);
        return emit_end(e, 0);
    }
    int64_t q = looked_at(((const struct lavamd *)e->state)->boxes, b, k);
    if (q < 0)
        return 0;
    if (k > 0)
        of_box(e, b, NUMBER + NEIGHBOUR * (k - 1), 4);
    of_box(e, q, OFFSET, 8);
    uint32_t first = e->body->count;
    fields(e, RV, PARTICLES * q + p, 2, 0, 4);
    emit_load(e, QV, PARTICLES * q + p, 2, 1);
    emit_hoist(e, first);
    emit_barrier(e, 2);
    first = e->body->count;
    fields(e, FV, PARTICLES * b + p, 2, 2, 1);
    emit_hoist(e, first);
    fields(e, FV, PARTICLES * b + p, ARITHMETIC, 0, 0);
    emit_barrier(e, 1);
    of_box(e, b, NN, 4);
    return emit_end(e, 3);
}

static int lavamd_init(struct lavamd *s, struct err *err)
{
    uint64_t boxes = s->boxes * s->boxes * s->boxes, particles = boxes * PARTICLES;
    (void)err;
    LAYOUT_ARRAYS(&s->layout, {"+box", boxes * BOX_WORDS * 4}, {"+rv", particles * 32}, {"+qv", particles * 8},
                  {"+fv", particles * 32});
    layout_kernel(&s->layout, lavamd_kernel, "kernel_gpu_cuda", boxes, THREADS, 64, 7200);
    return 0;
}

RODINIA(lavamd, "lavamd", "lavaMD", "forces among particles of neighbouring boxes, as the F3FS artifact runs it", free);
