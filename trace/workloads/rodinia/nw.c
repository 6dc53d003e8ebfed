/* nw: Needleman-Wunsch of Rodinia, two square arrays of ints, one launch per anti-diagonal of 16 x 16 tiles, forth and
 * back.
 *
 * An actor is a tile (a block of 16 threads) with three steps: its 16 rows of the reference and the corner above left;
 * the column to its left (16 rows of the matrix) and the row above it; after computing, its own 16 rows written. Rows
 * are n+1 ints apart. n is the largest multiple of 16 with 8 (n+1)^2 <= bytes; both arrays are written by the CPU.
 * Source: Rodinia 3.1, cuda/nw/needle.cu (launches) and needle_kernel.cu (index, index_n, index_w, index_nw).
 * Differs: managed memory instead of explicit copies. */
#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/workloads/rodinia/suite.h"

enum { TILE = 16, TILES_PER_SM = 32, MATRIX = 0, REFERENCE = 1 };

struct nw_params {
    int64_t bytes, compute_ns;
};

struct nw {
    uint64_t columns; /* n + 1 */
    uint32_t tiles;   /* tiles across */
    uint32_t compute_ns;
    struct actor_alloc allocs[2];
    struct actor_writer writer;
};

static const struct param nw_params[] = {
    PARAM_BYTES_ROW(nw_params, bytes, 1 << 14, 0x1p38, 0x1p33, "both arrays together"),
    PARAM_NS_ROW(nw_params, compute_ns, 0, 1e9, 6000, "time of a step of a tile whose pages are all resident"),
    {0}};

static void *nw_open(const void *params, struct err *err)
{
    const struct nw_params *p = params;
    struct nw *w = mem_zalloc(1, sizeof *w, err);
    if (!w)
        return NULL;
    uint64_t side = (uint64_t)sqrt((double)p->bytes / 8);
    w->tiles = (uint32_t)((side - 1) / TILE);
    w->columns = (uint64_t)w->tiles * TILE + 1;
    w->compute_ns = (uint32_t)p->compute_ns;
    w->allocs[MATRIX] = (struct actor_alloc){.name = "itemsets", .bytes = w->columns * w->columns * 4, .host = true};
    w->allocs[REFERENCE] =
        (struct actor_alloc){.name = "reference", .bytes = w->columns * w->columns * 4, .host = true};
    actor_space_place(w->allocs, 2);
    if (actor_space_init(w->allocs, 2, err)) {
        free(w);
        return NULL;
    }
    return w;
}

static const struct actor_alloc *nw_allocs(const void *state, size_t *n)
{
    *n = 2;
    return ((const struct nw *)state)->allocs;
}

static uint32_t nw_launches(const void *state)
{
    return 2 * ((const struct nw *)state)->tiles - 1;
}

/* Tiles of the diagonal of a launch: 1, 2, ..., tiles, tiles - 1, ..., 1. */
static uint32_t diagonal(const struct nw *w, uint32_t launch)
{
    return launch < w->tiles ? launch + 1 : 2 * w->tiles - 1 - launch;
}

static void nw_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    const struct nw *w = state;
    *out =
        (struct actor_launch){launch < w->tiles ? "needle1" : "needle2", diagonal(w, launch), TILES_PER_SM, 1, false};
}

/* Touch `rows` rows of `width` ints from `first` (an index into the array) on. */
static void touch_rows(const struct nw *w, int which, uint64_t first, uint32_t rows, uint32_t width,
                       struct actor_step *step)
{
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t offset = (first + row * w->columns) * 4;
        actor_touch(step, actor_page(&w->allocs[which], offset));
        actor_touch(step, actor_page(&w->allocs[which], offset + (width - 1) * 4));
    }
}

static int nw_step(void *run, uint32_t launch, uint32_t actor, uint32_t index, struct actor_step *step, struct err *err)
{
    const struct nw *w = run;
    (void)err;
    if (index > 2)
        return 0;
    uint32_t size = diagonal(w, launch);
    uint64_t x, y;
    if (launch < w->tiles) {
        x = actor;
        y = size - 1 - actor;
    } else {
        x = actor + w->tiles - size;
        y = w->tiles - 1 - actor;
    }
    uint64_t corner = w->columns * TILE * y + TILE * x; /* index_nw */
    step->count = 0;
    step->writes = 0;
    step->compute_ns = w->compute_ns;
    if (index == 0) {
        touch_rows(w, MATRIX, corner, 1, 1, step);
        touch_rows(w, REFERENCE, corner + w->columns + 1, TILE, TILE, step);
    } else if (index == 1) {
        touch_rows(w, MATRIX, corner + w->columns, TILE, 1, step);
        touch_rows(w, MATRIX, corner + 1, 1, TILE, step);
    } else {
        touch_rows(w, MATRIX, corner + w->columns + 1, TILE, TILE, step);
        step->writes = ~0ull;
    }
    step->accesses = step->count;
    return 1;
}

static const struct actor_ops nw_ops = {
    .allocs = nw_allocs, .launches = nw_launches, .launch = nw_launch, .step = nw_step};

static int nw_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct nw *w = state;
    return actor_writer_next(&w->writer, &nw_ops, w, records, cap, n, err);
}

static void nw_close(void *state)
{
    free(state);
}

const struct workload_type workload_nw = {
    .name = "nw",
    .summary = "Needleman-Wunsch alignment, tiles along anti-diagonals",
    .source = "Rodinia 3.1 cuda/nw",
    .produces = WORKLOAD_TOUCHES,
    .params = nw_params,
    .params_size = sizeof(struct nw_params),
    .open = nw_open,
    .close = nw_close,
    .ops = &nw_ops,
    .next = nw_next,
};
