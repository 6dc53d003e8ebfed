#include "trace/workloads/rodinia/nw_tiles.h"

enum { REGISTERS = 54, SHARED = 2180, STEPS = 31 * 15 };

void nw_tiles_init(struct nw_tiles *w, uint32_t count, unsigned matrix, enum rodinia_order order)
{
    *w = (struct nw_tiles){.columns = (uint64_t)count * NW_TILE + 1,
                           .tiles = count,
                           .order = order,
                           .matrix = matrix,
                           .reference = 1 - matrix,
                           .compute_ns = PARAM_AUTO};
    uint64_t bytes = w->columns * w->columns * 4;
    w->allocs[matrix] = (struct program_alloc){.name = "itemsets", .bytes = bytes, .host = true};
    w->allocs[1 - matrix] = (struct program_alloc){.name = "reference", .bytes = bytes, .host = true};
}

static const struct program_alloc *nw_allocs(const void *state, size_t *n)
{
    *n = 2;
    return ((const struct nw_tiles *)state)->allocs;
}

static uint32_t nw_launches(const void *state)
{
    return 2 * ((const struct nw_tiles *)state)->tiles - 1;
}

static void nw_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct nw_tiles *w = state;
    bool forth = launch < w->tiles;
    *out = (struct program_launch){.kernel = forth ? "needle1" : "needle2",
                                   .blocks = forth ? launch + 1 : 2 * w->tiles - 1 - launch,
                                   .threads = NW_TILE,
                                   .registers = REGISTERS,
                                   .shared = SHARED};
}

/* A load of the tile; `index`: of lane 0. */
static struct program_access *add_load(const struct nw_tiles *w, struct program_body *body, unsigned array,
                                       uint64_t index)
{
    struct program_access *a = program_load(body, w->allocs, array, index * 4, 4);
    a->active = program_first_lanes(NW_TILE);
    a->before = 2;
    return a;
}

/* The end of the basic block whose first access is `first`. */
static uint32_t add_barrier(const struct nw_tiles *w, struct program_body *body, uint32_t first)
{
    rodinia_order(body, first, w->order);
    program_barrier(body);
    body->access[body->count - 1].before = 1;
    return body->count;
}

static int nw_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                   struct err *err)
{
    const struct nw_tiles *w = run;
    bool forth = launch < w->tiles;
    uint64_t x = forth ? warp : warp + launch + 1 - w->tiles; /* kernel 2: i = 2 T - 1 - launch */
    uint64_t y = forth ? launch - warp : w->tiles - 1 - warp, corner = NW_TILE * w->columns * y + NW_TILE * x;
    uint64_t inner = corner + w->columns + 1;
    (void)err;
    if (index > 0)
        return 0;
    if (forth)
        add_load(w, body, w->matrix, corner)->active = 1;
    for (unsigned r = 0; r < NW_TILE; r++)
        (void)add_load(w, body, w->reference, inner + w->columns * r);
    uint32_t block = add_barrier(w, body, 0);
    if (!forth)
        add_load(w, body, w->matrix, corner)->active = 1;
    add_load(w, body, w->matrix, corner + w->columns)->lane_stride = (int64_t)(w->columns * 4);
    block = add_barrier(w, body, block);
    (void)add_load(w, body, w->matrix, corner + 1);
    (void)add_barrier(w, body, block);
    for (unsigned r = 0; r < NW_TILE; r++) {
        struct program_access *store = program_store(body, w->allocs, w->matrix, (inner + w->columns * r) * 4, 4);
        store->active = program_first_lanes(NW_TILE);
        store->before = r ? 2 : STEPS;
    }
    body->after = 1;
    return 1;
}

static const struct program_ops nw_tiles_ops = {
    .allocs = nw_allocs, .launches = nw_launches, .launch = nw_launch, .body = nw_body};

int nw_tiles_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&nw_tiles_ops, state, ((const struct nw_tiles *)state)->compute_ns};
    return 0;
}
