/* nw, rodinia-nw: Needleman-Wunsch of Rodinia: two square arrays of ints, a launch for each anti-diagonal of 16 x 16
 * tiles, forth and back. nw: managed memory of any size, MAT first; rodinia-nw: as it comes, REF first.
 *
 * T tiles across (nw: the most with 8 C^2 <= bytes, or n / 16), C = 16 T + 1 columns. Kernel 1, i = 1 to T: tile X =
 * block, Y = i-1 - block; kernel 2, i = T-1 to 1: X = block + T-i, Y = T-1 - block. Blocks of 16 threads, half a warp.
 * order=hoisted: loads between two barriers come before the first use. order=together: the kernel of
 * fixtures/cuda/kernels.cu, which loads corner, row, column and reference before a single barrier.
 * Worked example: bytes=8712 is 8 x 33^2, T = 2, launches of 1, 2 and 1 blocks; block 0 of the second is tile X = 0, Y
 * = 1, from element 16 C on.
 * Instructions (assumed after nvcc 13.0 -O3, sm_90): two before each access, 15 a step, its barrier included; of
 * fixtures/cuda/kernels.cu, whose loads stand in the order here, 12, one of them a load from shared memory that takes
 * as long as 6 more (30 cycles, four each, mt4g 4cc5566, sample_results of an H100).
 * Source: Rodinia 3.1, cuda/nw/needle.cu (launches) and needle_kernel.cu (index, index_n, index_w, index_nw).
 * Differs: the barriers of the 31 steps, which hold nobody as a block is one warp, are instructions only; nw has
 * managed memory instead of explicit copies. */
#include <math.h>

#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { TILE = 16, DIAGONALS = 31, STEP = 15, STEP_TOGETHER = 12 + 6, REGISTERS = 54, SHARED = 2180 };

enum { HOISTED, PTX, TOGETHER }; /* the choices of `order` */

struct nw {
    struct layout layout;
    int64_t bytes, order, n;    /* keys */
    int64_t columns, tiles;     /* C, T */
    unsigned matrix, reference; /* numbers of the arrays */
};

/* The same in managed memory. */
struct managed {
    struct nw nw;
};

static const struct param managed_keys[] = {
    PARAM_BYTES_ROW(nw, bytes, 8 * (TILE + 1) * (TILE + 1), 0x1p42, 0x1p33, "both arrays together"),
    PARAM_INT_ROW(nw, n, "", 0, 1 << 18, 0,
                  "letters of each sequence, a multiple of 16; 0: the most that `bytes` holds"),
    PARAM_CHOICE_ROW(nw, order, "hoisted|ptx|together", 0,
                     "loads first, or each used before the next, or all before one barrier"),
    LAYOUT_COMPUTE_NS("time of a tile whose data is all at hand"),
    {0}};

static const struct param nw_keys[] = {
    PARAM_INT_ROW(nw, n, "", TILE, 1 << 18, 2048, "letters of each sequence, a multiple of 16"),
    RODINIA_KEYS("time of a tile whose data is all at hand")};

static void load_reference(const struct emit *e, const struct nw *w, int64_t o, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++)
        emit_load(e, w->reference, o + w->columns * (r + 1) + 1, 2, 1);
}

/* All of a tile's loads, one barrier behind them. */
static void load_together(const struct emit *e, const struct nw *w, int64_t o)
{
    emit_load(e, w->matrix, o, 2, 1)->active = 1;
    emit_load(e, w->matrix, o + 1, 2, 1);
    load_reference(e, w, o, 0, 1);
    emit_apart(emit_load(e, w->matrix, o + w->columns, 2, 1), w->columns);
    load_reference(e, w, o, 1, TILE);
    emit_hoist(e, 0);
    emit_barrier(e, 1);
}

/* The end of the basic block that begins with access number `first`. */
static uint32_t barrier(const struct emit *e, uint32_t first)
{
    emit_hoist(e, first);
    emit_barrier(e, 1);
    return e->body->count;
}

/* The same, a barrier behind the reference, the column and the row. */
static void load_in_turn(const struct emit *e, const struct nw *w, int64_t o, bool forth)
{
    if (forth)
        emit_load(e, w->matrix, o, 2, 1)->active = 1;
    load_reference(e, w, o, 0, TILE);
    uint32_t first = barrier(e, 0);
    if (!forth)
        emit_load(e, w->matrix, o, 2, 1)->active = 1;
    emit_apart(emit_load(e, w->matrix, o + w->columns, 2, 1), w->columns);
    first = barrier(e, first);
    emit_load(e, w->matrix, o + 1, 2, 1);
    (void)barrier(e, first);
}

static int needle(struct emit *e)
{
    const struct nw *w = e->state;
    int64_t C = w->columns, T = w->tiles, block = e->at.block, launch = e->launch;
    bool forth = launch < T, together = w->order == TOGETHER; /* kernel 1; kernel 2: i = 2 T - 1 - launch */
    int64_t X = forth ? block : block + launch + 1 - T, Y = forth ? launch - block : T - 1 - block;
    int64_t o = TILE * C * Y + TILE * X;
    if (together)
        load_together(e, w, o);
    else
        load_in_turn(e, w, o, forth);
    for (int64_t r = 0; r < TILE; r++)
        emit_store(e, w->matrix, o + C + 1 + C * r, r ? 2 : DIAGONALS * (together ? STEP_TOGETHER : STEP));
    return emit_end(e, 1);
}

static unsigned kernel_of(const void *state, uint32_t launch)
{
    return launch >= ((const struct nw *)state)->tiles;
}

static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    uint32_t tiles = (uint32_t)((const struct nw *)state)->tiles;
    out->blocks = launch < tiles ? launch + 1 : 2 * tiles - 1 - launch;
}

/* MAT is array number `matrix`, 0 or 1. */
static int add_tiles(struct nw *s, unsigned matrix, struct err *err)
{
    if (s->n % TILE)
        return err_set(err, "n is %lld; expected a multiple of %d", (long long)s->n, TILE);
    s->tiles = s->n / TILE;
    s->columns = s->n + 1;
    s->matrix = matrix;
    s->reference = 1 - matrix;
    layout_array(&s->layout, matrix == 0 ? "+itemsets|reference" : "+reference|itemsets", s->columns * s->columns * 4);
    layout_straight(&s->layout, needle, "needle1", 0, TILE, REGISTERS, SHARED);
    layout_straight(&s->layout, needle, "needle2", 0, TILE, REGISTERS, SHARED);
    s->layout.kernel_of = kernel_of;
    s->layout.shape = shape;
    s->layout.launches = 2 * (uint32_t)s->tiles - 1;
    return 0;
}

static int nw_init(struct nw *s, struct err *err)
{
    return add_tiles(s, 1, err);
}

static int managed_init(struct managed *m, struct err *err)
{
    m->nw.layout.order = m->nw.order == PTX ? ORDER_PTX : ORDER_HOISTED;
    if (!m->nw.n)
        m->nw.n = ((int64_t)sqrt((double)m->nw.bytes / 8) - 1) / TILE * TILE;
    return add_tiles(&m->nw, 0, err);
}

WORKLOAD_OF_LAYOUT(managed, workload_nw, "nw", "Needleman-Wunsch alignment, tiles along anti-diagonals",
                   "Rodinia 3.1 cuda/nw", layout_open, free);
RODINIA(nw, "nw", "nw", "Needleman-Wunsch alignment, as Rodinia and the F3FS artifact run it", free);
