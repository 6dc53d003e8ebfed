#include "trace/workloads/rodinia/nw_tiles.h"

enum { STEPS = 31 * 15, REGISTERS = 54, SHARED = 2180 };

/* The end of the basic block that begins with access number `first`. */
static uint32_t barrier(const struct emit *e, uint32_t first)
{
    emit_hoist(e, first);
    emit_barrier(e, 1);
    return e->body->count;
}

/* MAT[o], by lane 0. */
static void corner(const struct emit *e, unsigned matrix, int64_t o)
{
    emit_load(e, matrix, o, 2, 1)->active = 1;
}

static int needle(struct emit *e)
{
    const struct nw_tiles *w = e->state;
    int64_t C = w->columns, T = w->tiles, block = (int64_t)e->at.block, launch = e->launch;
    bool forth = launch < T; /* kernel 1; kernel 2: i = 2 T - 1 - launch */
    int64_t X = forth ? block : block + launch + 1 - T, Y = forth ? launch - block : T - 1 - block;
    int64_t o = NW_TILE * C * Y + NW_TILE * X;
    if (forth)
        corner(e, w->matrix, o);
    for (int64_t r = 0; r < NW_TILE; r++)
        emit_load(e, w->reference, o + C + 1 + C * r, 2, 1);
    uint32_t first = barrier(e, 0);
    if (!forth)
        corner(e, w->matrix, o);
    emit_apart(emit_load(e, w->matrix, o + C, 2, 1), C);
    first = barrier(e, first);
    emit_load(e, w->matrix, o + 1, 2, 1);
    barrier(e, first);
    for (int64_t r = 0; r < NW_TILE; r++)
        emit_store(e, w->matrix, o + C + 1 + C * r, r ? 2 : STEPS);
    return emit_end(e, 1);
}

static unsigned kernel_of(const void *state, uint32_t launch)
{
    return launch >= ((const struct nw_tiles *)state)->tiles;
}

static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    uint32_t tiles = (uint32_t)((const struct nw_tiles *)state)->tiles;
    out->blocks = launch < tiles ? launch + 1 : 2 * tiles - 1 - launch;
}

void nw_tiles_init(struct nw_tiles *w, uint32_t tiles, unsigned matrix)
{
    w->tiles = tiles;
    w->columns = w->tiles * NW_TILE + 1;
    w->matrix = matrix;
    w->reference = 1 - matrix;
    plan_input(&w->plan, matrix == 0 ? "itemsets" : "reference", (uint64_t)(w->columns * w->columns) * 4);
    plan_input(&w->plan, matrix == 1 ? "itemsets" : "reference", (uint64_t)(w->columns * w->columns) * 4);
    plan_straight(&w->plan, needle, "needle1", 0, NW_TILE, REGISTERS, SHARED);
    plan_straight(&w->plan, needle, "needle2", 0, NW_TILE, REGISTERS, SHARED);
    w->plan.kernel_of = kernel_of;
    w->plan.shape = shape;
    w->plan.launches = 2 * tiles - 1;
}
