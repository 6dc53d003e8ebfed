/* nw: Needleman-Wunsch of Rodinia, two square arrays of ints, one launch per anti-diagonal of 16 x 16 tiles, forth and
 * back.
 *
 * With T tiles across and C = 16 T + 1 columns: kernel 1 for i = 1 to T, tile X = block, Y = i-1 - block; kernel 2 for
 * i = T-1 to 1, tile X = block + T-i, Y = T-1 - block. Blocks of 16 threads, half a warp. o = 16 C Y + 16 X, lane l:
 *     kernel 1: lane 0: MAT[o]; REF[o + C + 1 + C r + l], r = 0 to 15; barrier; MAT[o + C + C l]; barrier;
 *               MAT[o + 1 + l]; barrier; 31 steps in shared memory; store MAT[o + C + 1 + C r + l], r = 0 to 15
 *     kernel 2: the same, but REF first, then a barrier, and MAT[o] before MAT[o + C + C l]
 * order=hoisted: what stands between two barriers is loaded before the first value is used (stored to shared memory);
 * order=ptx: each value is used before the next is loaded. Both arrays are written by the CPU. T is the largest with
 * 8 C^2 <= bytes.
 * Instructions: two before each access, 15 a step, its barrier included: assumed, after the machine code that nvcc 13.0
 * -O3 makes for sm_90 of fixtures/cuda/kernels.cu. Registers, shared memory: Rodinia's kernel by nvcc 13.0 for compute
 * capability 7.5.
 * Source: Rodinia 3.1, cuda/nw/needle.cu (launches) and needle_kernel.cu (index, index_n, index_w, index_nw).
 * Differs: managed memory instead of explicit copies; the barriers of the 31 steps, which hold nobody as a block is one
 * warp, are instructions only. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/program.h"
#include "trace/workloads/rodinia/suite.h"

enum { TILE = 16, REGISTERS = 54, SHARED = 2180, STEPS = 31 * 15, MATRIX = 0, REFERENCE = 1 };
enum order { HOISTED, PTX };

struct nw_params {
    int64_t bytes, order, compute_ns;
};

struct nw {
    uint64_t columns; /* C */
    uint32_t tiles;   /* T */
    enum order order;
    int64_t compute_ns;
    struct program_alloc allocs[2];
};

static const struct param nw_params[] = {
    PARAM_BYTES_ROW(nw_params, bytes, 8 * (TILE + 1) * (TILE + 1), 0x1p38, 0x1p33, "both arrays together"),
    PARAM_CHOICE_ROW(nw_params, order, "hoisted|ptx", HOISTED, "loads first, or each used before the next"),
    PARAM_NS_AUTO_ROW(nw_params, compute_ns, 0, 1e9, "time of a tile whose data is all at hand"),
    {0}};

static void *nw_open(const void *params, struct err *err)
{
    const struct nw_params *p = params;
    uint64_t side = (uint64_t)sqrt((double)p->bytes / 8);
    struct nw *w = mem_zalloc(1, sizeof *w, err);
    if (!w)
        return NULL;
    w->tiles = (uint32_t)((side - 1) / TILE);
    w->columns = (uint64_t)w->tiles * TILE + 1;
    w->order = (enum order)p->order;
    w->compute_ns = p->compute_ns;
    uint64_t bytes = w->columns * w->columns * 4;
    w->allocs[MATRIX] = (struct program_alloc){.name = "itemsets", .bytes = bytes, .host = true};
    w->allocs[REFERENCE] = (struct program_alloc){.name = "reference", .bytes = bytes, .host = true};
    program_place(w->allocs, 2, 0, 0);
    return w;
}

static const struct program_alloc *nw_allocs(const void *state, size_t *n)
{
    *n = 2;
    return ((const struct nw *)state)->allocs;
}

static uint32_t nw_launches(const void *state)
{
    return 2 * ((const struct nw *)state)->tiles - 1;
}

static void nw_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct nw *w = state;
    bool forth = launch < w->tiles;
    *out = (struct program_launch){.kernel = forth ? "needle1" : "needle2",
                                   .blocks = forth ? launch + 1 : 2 * w->tiles - 1 - launch,
                                   .threads = TILE,
                                   .registers = REGISTERS,
                                   .shared = SHARED};
}

/* A load of the tile; `index`: of lane 0. together: so many loads stand between the barriers, this one included and
 * those before it left out. */
static struct program_access *add_load(const struct nw *w, struct program_body *body, unsigned array, uint64_t index,
                                       unsigned together)
{
    struct program_access *a = program_load(body, w->allocs, array, index * 4, 4);
    a->active = program_first_lanes(TILE);
    a->before = 2;
    if (w->order == HOISTED)
        a->use = (uint16_t)(3 * (together - 1) + 1); /* behind the last of them */
    return a;
}

static void add_barrier(struct program_body *body)
{
    program_barrier(body);
    body->access[body->count - 1].before = 1;
}

static void add_reference(const struct nw *w, struct program_body *body, uint64_t corner)
{
    for (unsigned r = 0; r < TILE; r++)
        (void)add_load(w, body, REFERENCE, corner + w->columns * (r + 1) + 1, TILE - r);
}

static void add_corner(const struct nw *w, struct program_body *body, uint64_t corner, unsigned together)
{
    add_load(w, body, MATRIX, corner, together)->active = 1;
}

static int nw_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                   struct err *err)
{
    const struct nw *w = run;
    bool forth = launch < w->tiles;
    uint64_t x = forth ? warp : warp + launch + 1 - w->tiles; /* kernel 2: i = 2 T - 1 - launch */
    uint64_t y = forth ? launch - warp : w->tiles - 1 - warp, corner = TILE * w->columns * y + TILE * x;
    (void)err;
    if (index > 0)
        return 0;
    if (forth)
        add_corner(w, body, corner, 1 + TILE);
    add_reference(w, body, corner);
    add_barrier(body);
    if (!forth)
        add_corner(w, body, corner, 2);
    add_load(w, body, MATRIX, corner + w->columns, 1)->lane_stride = (int64_t)(w->columns * 4);
    add_barrier(body);
    (void)add_load(w, body, MATRIX, corner + 1, 1);
    add_barrier(body);
    for (unsigned r = 0; r < TILE; r++) {
        struct program_access *store =
            program_store(body, w->allocs, MATRIX, (corner + w->columns * (r + 1) + 1) * 4, 4);
        store->active = program_first_lanes(TILE);
        store->before = r ? 2 : STEPS;
    }
    body->after = 1;
    return 1;
}

static const struct program_ops nw_ops = {
    .allocs = nw_allocs, .launches = nw_launches, .launch = nw_launch, .body = nw_body};

static int nw_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&nw_ops, state, ((const struct nw *)state)->compute_ns};
    return 0;
}

const struct workload_type workload_nw = {
    .name = "nw",
    .summary = "Needleman-Wunsch alignment, tiles along anti-diagonals",
    .source = "Rodinia 3.1 cuda/nw",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = nw_params,
    .params_size = sizeof(struct nw_params),
    .open = nw_open,
    .close = free,
    .program = nw_program,
};
