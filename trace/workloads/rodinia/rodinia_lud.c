/* rodinia-lud: LU decomposition of an n x n matrix of floats in place, in tiles of 32 x 32.
 *
 * Launches for o = 0, 32, .. `steps` times: diagonal, perimeter, internal; then a last diagonal. T = (n - o)/32 - 1
 * tiles are left beside the diagonal one. A tile's row is a line; M[r, c] is element r n + c; lane l:
 *     diagonal, 1 warp: M[o+i, o+l], i = 0 to 31; barrier; 31 steps; stores of rows 1 to 31
 *     perimeter, T blocks of 2 warps, c = o + 32 (b+1):
 *         warp 0: M[o+i, o+l], i = 0 to 15; M[o+i, c+l], i = 0 to 31
 *         warp 1: M[o+i, o+l], i = 16 to 31; M[c+i, o+l], i = 0 to 31
 *         barrier; ~500 multiplications; barrier; stores: warp 0 M[o+i, c+l], i = 1 to 31, warp 1 M[c+i, o+l], i = 0
 *             to 31
 *     internal, T x T blocks of 32 warps, warp w is row w, c = o + 32 (x+1), r = o + 32 (y+1):
 *         M[o+w, c+l]; M[r+w, o+l]; barrier; 32 multiplications; M[r+w, c+l]; store of the same
 * Worked example: n = 96: diagonal, perimeter of 2 blocks, internal of 4; o = 32: 1 and 1 blocks; o = 64: a diagonal.
 * Uses: perimeter and diagonal store each value to shared memory before the next load; internal's first load is used
 * 6, its second 4 instructions later. Instructions otherwise: two before an access; three for each multiplication
 * (two loads of shared memory, the multiply-add), eight around a diagonal step with its two barriers, which hold
 * nobody as the block is one warp: assumed.
 * Source: Rodinia 3.1, cuda/lud/cuda/lud_kernel.cu; LUD_ITERS = 8, n = 2048 (-s 2048): the F3FS artifact; registers,
 * shared memory and uses: PTX of nvcc 13.0 -O3 for compute capability 7.5.
 * Differs: steps=0 decomposes the whole matrix, as Rodinia itself does. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/emit.h"
#include "trace/workloads/rodinia/suite.h"

enum { TILE = 32, HALF = 16, M = 0, DIAGONAL = 0, PERIMETER = 1, INTERNAL = 2 };
/* Instructions for arithmetic of a launch: sum over i < 31 of i and i + 1, of i < 32. */
enum { DIAGONAL_STEPS = 961 * 3 + 31 * 8, PERIMETER_STEPS = 496 * 3, COLUMN_DIVISIONS = 32, INTERNAL_STEPS = 96 };

struct lud_params {
    int64_t n, steps, order, compute_ns;
};

struct lud {
    struct lud_params p;
    uint32_t steps;
    struct program_alloc matrix;
};

static const struct param lud_params[] = {
    PARAM_INT_ROW(lud_params, n, "", TILE, 1 << 17, 2048, "rows and columns, a multiple of 32"),
    PARAM_INT_ROW(lud_params, steps, "", 0, 1 << 12, 8, "tiles of the diagonal to eliminate; 0: all"),
    RODINIA_ORDER_ROW(lud_params),
    PARAM_NS_AUTO_ROW(lud_params, compute_ns, 0, 1e9, "time of a warp's loads or stores, data at hand"),
    {0}};

static void *lud_open(const void *params, struct err *err)
{
    const struct lud_params *p = params;
    if (p->n % TILE) {
        (void)err_set(err, "n is %lld; expected a multiple of %d", (long long)p->n, TILE);
        return NULL;
    }
    struct lud *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    uint32_t most = (uint32_t)(p->n / TILE - 1);
    s->p = *p;
    s->steps = p->steps && p->steps < most ? (uint32_t)p->steps : most;
    s->matrix = (struct program_alloc){.name = "m", .bytes = (uint64_t)(p->n * p->n) * 4, .host = true};
    program_place(&s->matrix, 1, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *lud_allocs(const void *state, size_t *n)
{
    *n = 1;
    return &((const struct lud *)state)->matrix;
}

static uint32_t lud_launches(const void *state)
{
    return 3 * ((const struct lud *)state)->steps + 1;
}

static void lud_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    static const struct program_launch kernels[] = {
        {.kernel = "lud_diagonal", .blocks = 1, .threads = TILE, .registers = 64, .shared = 4096},
        {.kernel = "lud_perimeter", .threads = 2 * TILE, .registers = 64, .shared = 12288},
        {.kernel = "lud_internal", .threads = TILE * TILE, .registers = 34, .shared = 8192}};
    uint64_t tiles = (uint64_t)((const struct lud *)state)->p.n / TILE - launch / 3 - 1;
    *out = kernels[launch % 3];
    if (launch % 3 != DIAGONAL)
        out->blocks = launch % 3 == PERIMETER ? tiles : tiles * tiles;
}

/* Rows `from` to `to` - 1 of the tile whose corner is (row, column). */
static void rows(const struct lud *s, const struct emit *e, int64_t row, int64_t column, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        (void)emit_load(e, M, (row + i) * s->p.n + column, 2, 1);
}

static void store_rows(const struct lud *s, const struct emit *e, int64_t row, int64_t column, int64_t from,
                       unsigned before)
{
    for (int64_t i = from; i < TILE; i++)
        (void)emit_store(e, M, (row + i) * s->p.n + column, i == from ? before : 2);
}

static void diagonal(const struct lud *s, const struct emit *e, int64_t o)
{
    rows(s, e, o, o, 0, TILE);
    rodinia_order(e->body, 0, (enum rodinia_order)s->p.order);
    emit_barrier(e, 1);
    store_rows(s, e, o, o, 1, DIAGONAL_STEPS);
}

/* Body 0: the loads and the arithmetic; body 1: the stores. */
static void perimeter(const struct lud *s, const struct emit *e, int64_t o, const struct program_warp *at,
                      uint32_t body)
{
    int64_t other = o + TILE * ((int64_t)at->block + 1), row = at->warp ? other : o, column = at->warp ? o : other;
    if (body == 1) {
        store_rows(s, e, row, column, at->warp ? 0 : 1, 2);
        return;
    }
    rows(s, e, o, o, at->warp ? HALF : 0, at->warp ? TILE : HALF);
    rows(s, e, row, column, 0, TILE);
    rodinia_order(e->body, 0, (enum rodinia_order)s->p.order);
    emit_barrier(e, 1);
    emit_barrier(e, PERIMETER_STEPS + (at->warp ? COLUMN_DIVISIONS : 0));
}

static void internal(const struct lud *s, const struct emit *e, int64_t o, const struct program_warp *at)
{
    int64_t tiles = (s->p.n - o) / TILE - 1, w = at->warp;
    int64_t column = o + TILE * ((int64_t)at->block % tiles + 1), row = o + TILE * ((int64_t)at->block / tiles + 1) + w;
    (void)emit_load(e, M, (o + w) * s->p.n + column, 2, 6);
    (void)emit_load(e, M, row * s->p.n + o, 2, 4);
    emit_barrier(e, 5);
    (void)emit_load(e, M, row * s->p.n + column, INTERNAL_STEPS, 1);
    (void)emit_store(e, M, row * s->p.n + column, 1);
}

static int lud_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                    struct err *err)
{
    const struct lud *s = run;
    struct program_launch shape;
    (void)err;
    lud_launch(s, launch, &shape);
    if (index > (launch % 3 == PERIMETER))
        return 0;
    struct program_warp at = program_warp_at(&shape, warp);
    struct emit e = emit_to(body, &s->matrix, program_first_lanes(at.lanes));
    int64_t o = TILE * (int64_t)(launch / 3);
    if (launch % 3 == DIAGONAL)
        diagonal(s, &e, o);
    else if (launch % 3 == PERIMETER)
        perimeter(s, &e, o, &at, index);
    else
        internal(s, &e, o, &at);
    body->after = 1;
    return 1;
}

static const struct program_ops lud_ops = {
    .allocs = lud_allocs, .launches = lud_launches, .launch = lud_launch, .body = lud_body};

static int lud_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&lud_ops, state, ((const struct lud *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_lud = {
    .name = "rodinia-lud",
    .summary = "LU decomposition in tiles, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/lud",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = lud_params,
    .params_size = sizeof(struct lud_params),
    .open = lud_open,
    .close = free,
    .program = lud_program,
};
