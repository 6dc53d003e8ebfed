/* The workload llm: the collaborative case, one layer of a GPT-3-like model split over PIM and GPU, done once.
 *
 * Two programs side by side. The GPU's: queries, keys and values, three matrix products of 128 x 4096 x 4096 one after
 * the other (gemm_program.h, which says what of them is assumed). The PIM's, on all channels: fully connected (1024
 * weight rows), softmax (128 rows), fully connected on one column group (1024 rows), one after the other. Both are cut
 * to 1/scale: the PIM's rows, and the 4096 rows of weights that the products sum over.
 * Source: gupta-2025-f3fs section III (LLM); its artifact for the PIM kernels' sizes. */
#include <stdbool.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/ml/gemm_program.h"
#include "trace/workloads/ml/suite.h"
#include "trace/workloads/pim/pim_program.h"

enum { ROWS = 128, WIDTH = 4096, PRODUCTS = 3, CHANNELS = 32 };
static const uint64_t gpu_base = 0xc0000000; /* the artifact's first allocation; PIM rows lie above 4 GiB */

struct keys {
    int64_t scale, base_row, tile, order, shared, registers, per_product;
};

static const struct param keys[] = {
    PARAM_INT_ROW(keys, scale, "", 1, 128, 32, "PIM rows and rows of weights are divided by this"),
    PARAM_INT_ROW(keys, base_row, "", 4096, 8000000, 4096, "first row of the PIM side's arrays"),
    PARAM_INT_ROW(keys, tile, "", 16, 32, 32, "side of a tile of the products: 16 or 32"),
    PARAM_CHOICE_ROW(keys, order, "rows|columns", 0, "blocks go along rows of tiles first, or down columns"),
    PARAM_INT_ROW(keys, shared, "", 0, 1, 1, "1: products go through shared memory, 0: straight from memory"),
    PARAM_INT_ROW(keys, registers, "", 16, 255, 32, "registers of a thread of the products"),
    PARAM_INT_ROW(keys, per_product, "", 1, 16, 3, "instructions for each product of a thread"),
    {0}};

struct state {
    struct keys keys;
    struct gemm gemm;
    struct pim_ops ops;
    struct pim_program pim;
};

static void close_llm(void *p)
{
    struct state *s = p;
    pim_program_release(&s->pim);
    pim_ops_release(&s->ops);
    free(s);
}

static int build(struct state *s, struct err *err)
{
    const uint32_t scale = (uint32_t)s->keys.scale, base = (uint32_t)s->keys.base_row;
    const uint32_t weights = 1024 / scale, rows = 128 / scale, tile = (uint32_t)s->keys.tile;
    const uint32_t k = WIDTH / scale / tile * tile;
    s->gemm = (struct gemm){.m = ROWS,
                            .n = WIDTH,
                            .k = k ? k : tile,
                            .tile = tile,
                            .launches = PRODUCTS,
                            .registers = (uint32_t)s->keys.registers,
                            .per_product = (uint32_t)s->keys.per_product,
                            .columns_first = s->keys.order,
                            .untiled = !s->keys.shared};
    return gemm_init(&s->gemm, gpu_base, err) || pim_ops_fc(&s->ops, weights, 8, base, err) ||
                   pim_ops_build(&s->ops, pim_kernel_find("softmax"), rows, base + 2048, err) ||
                   pim_ops_fc(&s->ops, weights, 1, base + 2304, err)
               ? -1
               : 0;
}

static void *open_llm(const void *params, struct err *err)
{
    struct state *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->keys = *(const struct keys *)params;
    if (build(s, err)) {
        close_llm(s);
        return NULL;
    }
    return s;
}

static int gpu_side(void *state, struct program *program, struct err *err)
{
    struct state *s = state;
    (void)err;
    *program = (struct program){.ops = &gemm_ops, .state = &s->gemm, .compute_ns = -1};
    return 0;
}

static int pim_side(void *state, struct program *program, struct err *err)
{
    struct state *s = state;
    pim_program_release(&s->pim);
    if (pim_program_init(&s->pim, &s->ops, "llm", CHANNELS, err))
        return -1;
    *program = (struct program){.ops = &pim_program_ops, .state = &s->pim, .compute_ns = -1};
    return 0;
}

const struct workload_type workload_llm = {
    .name = "llm",
    .summary = "collaborative language-model layer: matrix products on the GPU beside PIM kernels, done once",
    .source = "gupta-2025-f3fs section III",
    .produces = WORKLOAD_PROGRAM,
    .params = keys,
    .params_size = sizeof(struct keys),
    .open = open_llm,
    .close = close_llm,
    .views = VIEW_DRAM,
    .program = gpu_side,
    .beside = pim_side,
};
