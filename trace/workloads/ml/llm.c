/* llm: the collaborative case, one layer of a GPT-3-like model split over PIM and GPU, done once.
 *
 * Two programs side by side. The GPU's: queries, keys and values, three products of 128 x 4096 x 4096: Y_i = beta Y_i +
 * alpha X_i W_i, one launch each. The PIM's, on all channels, one after the other: fully connected (1024 weight rows),
 * softmax (128 rows), fully connected on one column group (1024 rows). Both are cut to 1/scale: the PIM's rows, the
 * rows of weights that the products sum over, and the elements of Y_i, so that weights, inputs and outputs keep their
 * proportions. X_i has m rows of k floats, W_i k rows of n, Y_i m rows of n; nobody has written them. Rows of X_i stay
 * as far apart as they are uncut, 16 KiB: a column of them lies in one slice of L2, which all blocks want at once.
 *
 * A block of 16 x 16 threads makes 96 x 64 elements of Y_i, a thread 6 x 4 of them, 16 apart. For each 32 of k a block
 * takes 96 x 32 of X_i and 32 x 64 of W_i to shared memory: a warp a row, 8 rows further on each time, and half a row,
 * 4 rows further on; each load is waited for before the next. They meet, multiply, meet again. At the end an element of
 * Y_i is read and written, one after the other. Rows beyond m are left out. With a scale, block b makes elements b mod
 * scale, and every scale-th on.
 * Worked example, m = 128, n = 64, k = 32: two blocks of 8 warps, the second with a third of its rows: a warp loads 12
 * or 4 rows of X_i, 8 halves of W_i, and 24 or 8 elements a thread of Y_i, in two rows of 64 bytes.
 *
 * per_k is what a warp waits for each k, in instructions of 4 cycles: a product of this shape compiled by nvcc 13.0 for
 * 7.5 has 10 loads from shared memory and 24 products a k, in PTX one by one, 9 loads waited for. By the simulator's
 * rules (24 cycles to what reads a load, one more of X, whose two rows lie in one bank; two instructions a fetch, the
 * next when both are gone; a product every cycle) that is 257 to 262 cycles, 64 to 66; 66 where a product takes the
 * unit's 2 cycles.
 * Source: gupta-2025-f3fs section III (LLM); its artifact, Sacusa/rodinia_3.1_pim ISPASS_2025:
 * cuda/gemm.cu and main.cu (shapes, sizes, no copies; compiled, 96 registers and the order of loads);
 * Sacusa/GPGPU-Sim-4.0.1, same branch, shader.cc (fetch, issue, operand collector, write-back); Sacusa/PIM_apps:
 * gpgpusim.config (latency, ports). */
#include <stdio.h>

#include "trace/program/layout.h"
#include "trace/workloads/pim/pim_program.h"
#include "trace/workloads/workload.h"

/* --- the products --- */

enum { ROWS = 128, WIDTH = 4096, PRODUCTS = 3 };
enum { DOWN = 96, ACROSS = 64, DEEP = 32, SIDE = 16, ELEMENTS = (DOWN / SIDE) * (ACROSS / SIDE) };
enum { WARPS = SIDE * SIDE / PROGRAM_LANES };
enum { REGISTERS = 96, SHARED = (DOWN + ACROSS) * DEEP * (int)sizeof(float), ALIGN = 256 };
/* Instructions before a load: of a turn's first of X and of W, of another; of a guarded one; and of Y. */
enum { FIRST = 10, MORE = 2, GUARDED = 7, OUTPUT = 5 };

struct gemm {
    struct layout layout; /* arrays X_i, W_i, Y_i of each launch; made by gemm_init() */
    uint32_t m, n, k;     /* n: a multiple of ACROSS, k of DEEP */
    uint32_t pitch;       /* floats from a row of X_i to the next */
    uint32_t scale;       /* of the elements of Y one in so many is made */
    uint32_t per_k;       /* instructions */
    int64_t order;        /* enum emit_order */
};

/* The part of a block: how many of its rows there are, and whether its loads ask whether they are inside. */
struct part {
    int64_t row, column, rows;
    bool guarded;
};

static struct part part(const struct emit *e)
{
    const struct gemm *g = e->state;
    const uint32_t across = g->n / ACROSS, block = (uint32_t)e->at.block;
    struct part p = {.row = (int64_t)(block / across) * DOWN, .column = (int64_t)(block % across) * ACROSS};
    p.rows = (int64_t)g->m - p.row < DOWN ? (int64_t)g->m - p.row : DOWN;
    p.guarded = p.row + DOWN >= g->m || block % across == across - 1;
    return p;
}

/* Along k: to shared memory, a load at a time. */
static void tiles(const struct emit *e, const struct part *p)
{
    const struct gemm *g = e->state;
    const int64_t warp = e->at.warp;
    const uint32_t more = p->guarded ? GUARDED : MORE;
    uint32_t before = FIRST;
    for (int64_t row = warp; row < DOWN; row += WARPS, before += more) {
        if (row >= p->rows)
            continue; /* asks, and does not load */
        emit_load(e, 3 * e->launch, (p->row + row) * g->pitch, before, 1)->turn_stride = DEEP * (int64_t)sizeof(float);
        before = 0;
    }
    before += FIRST - more;
    for (int64_t row = warp / 2; row < DEEP; row += WARPS / 2, before = more)
        emit_load(e, 3 * e->launch + 1, row * g->n + p->column + warp % 2 * PROGRAM_LANES, before, 1)->turn_stride =
            DEEP * (int64_t)g->n * (int64_t)sizeof(float);
    emit_hoist(e, 0);
    emit_barrier(e, 1);
    emit_barrier(e, DEEP * g->per_k);
    e->body->turns = g->k / DEEP;
}

/* Body 0: along k; those behind it: an element of Y each. */
static int gemm(struct emit *e)
{
    const struct gemm *g = e->state;
    const struct part p = part(e);
    if (!e->index) {
        tiles(e, &p);
        return emit_end(e, 0);
    }
    const uint64_t element = e->at.block % g->scale + (uint64_t)(e->index - 1) * g->scale;
    const int64_t down = (int64_t)(element / (ACROSS / SIDE)) * SIDE + (int64_t)e->at.warp * 2;
    if (element >= ELEMENTS || down >= p.rows)
        return 0;
    const int64_t right = p.column + (int64_t)(element % (ACROSS / SIDE)) * SIDE;
    struct program_access *y = emit_load(e, 3 * e->launch + 2, (p.row + down) * g->n + right, OUTPUT, 1);
    emit_again(e, emit_tile(e, y, SIDE, g->n, 1), RECORD_WRITE, 2);
    return emit_end(e, 0);
}

/* The numbers are set; places the arrays from `base` on. */
static int gemm_init(struct gemm *g, uint64_t base, struct err *err)
{
    if (!g->m || !g->n || !g->k || g->m % 2 || g->n % ACROSS || g->k % DEEP)
        return err_set(err, "a product of %u x %u x %u; expected an even number, and multiples of %d and %d", g->m,
                       g->k, g->n, DEEP, ACROSS);
    g->layout = (struct layout){.order = g->order};
    layout_init(&g->layout, PARAM_AUTO);
    g->layout.base = base;
    g->layout.align = ALIGN;
    const uint64_t elements[] = {(uint64_t)g->m * g->pitch, (uint64_t)g->k * g->n, (uint64_t)g->m * g->n};
    for (unsigned i = 0; i < 3 * PRODUCTS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%c%u", "XWY"[i % 3], i / 3);
        layout_array(&g->layout, name, elements[i % 3] * sizeof(float))->device = true;
    }
    layout_kernel(&g->layout, gemm, "gemm", (uint64_t)(g->n / ACROSS) * layout_blocks(g->m, DOWN), SIDE * SIDE,
                  REGISTERS, SHARED);
    g->layout.launches = PRODUCTS;
    return 0;
}

/* --- both sides --- */

enum { CHANNELS = 32 };
static const uint64_t gpu_base = 0xc0000000; /* the artifact's first allocation; PIM rows lie above 4 GiB */

struct llm {
    int64_t scale, base_row, per_k, order;
    struct gemm gemm;
    struct pim_ops ops;
    struct pim_program pim;
};

static const struct param llm_keys[] = {
    PARAM_INT_ROW(llm, scale, "", 1, 128, 8, "PIM rows, rows of weights and elements made are divided by this"),
    PARAM_INT_ROW(llm, base_row, "", 4096, 8000000, 4096, "first row of the PIM side's arrays"),
    PARAM_INT_ROW(llm, per_k, "", 1, 1024, 66, "instructions of a thread of the products for each row of weights"),
    PARAM_CHOICE_ROW(llm, order, "ptx|hoisted", ORDER_PTX, "loads one by one, or those of a tile together"),
    {0}};

static void llm_close(void *state)
{
    struct llm *s = state;
    pim_program_release(&s->pim);
    pim_ops_release(&s->ops);
    free(s);
}

static int llm_init(struct llm *s, struct err *err)
{
    const uint32_t scale = (uint32_t)s->scale, base = (uint32_t)s->base_row;
    const uint32_t weights = 1024 / scale, rows = 128 / scale, k = WIDTH / scale / DEEP * DEEP;
    s->gemm = (struct gemm){.m = ROWS,
                            .n = WIDTH,
                            .pitch = WIDTH,
                            .k = k ? k : DEEP,
                            .scale = scale,
                            .per_k = (uint32_t)s->per_k,
                            .order = s->order};
    return gemm_init(&s->gemm, gpu_base, err) || pim_ops_fc(&s->ops, weights, 8, base, err) ||
                   pim_ops_build(&s->ops, pim_kernel_find("softmax"), rows, base + 2048, err) ||
                   pim_ops_fc(&s->ops, weights, 1, base + 2304, err)
               ? -1
               : 0;
}

static int gpu_side(void *state, struct program *program, struct err *err)
{
    return layout_program(&((struct llm *)state)->gemm, program, err);
}

static int pim_side(void *state, struct program *program, struct err *err)
{
    struct llm *s = state;
    return pim_program(&s->pim, &s->ops, "llm", CHANNELS, program, err);
}

WORKLOAD(llm, workload_llm, "llm",
         "collaborative language-model layer: matrix products on the GPU beside PIM kernels, done once",
         "gupta-2025-f3fs section III", workload_new, llm_close, .produces = WORKLOAD_PROGRAM, .views = VIEW_DRAM,
         .program = gpu_side, .beside = pim_side);
