/* rodinia-backprop: one training step of Rodinia's neural network between n inputs and 16 hidden units, two kernels.
 *
 * Blocks of 16 x 16 threads, by = block, i = 16 by + ty + 1, e = 17 i + tx + 1: rows of 17 floats, so 68 B apart.
 *     bpnn_layerforward_CUDA:   if (tx == 0) IN[i]; barrier; WT[e]; barrier; 5 barriers over shared memory;
 *                               store WT[e]; barrier; if (tx == 0) store PART[16 by + ty]
 *     bpnn_adjust_weights_cuda: DELTA[tx+1], IN[i], OLDW[e], WT[e], store WT[e];
 *                               DELTA[tx+1], IN[i], OLDW[e], store OLDW[e]; barrier;
 *                               block 0, ty = 0, z = tx + 1: DELTA[z], OLDW[z], WT[z], store WT[z],
 *                               DELTA[z], OLDW[z], store OLDW[z]
 *
 * Arrays, from 0xC0000000 on: IN (n+1 floats), HID (17, used by neither), WT (17 (n+1)), PART (n), DELTA (17), OLDW
 * (17 (n+1)); IN, WT, DELTA, OLDW are copied in. n = 655360 as gupta-2025-f3fs runs it.
 * Worked example: block 0, warp 0: IN[1], IN[2] in lanes 0 and 16; WT[18 to 33] and [35 to 50].
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers, shared memory: the same compiler.
 * order=hoisted: the loads up to the next store, then their uses: the store may write what comes behind it, for all
 * that the compiler knows.
 * Source: Rodinia 3.1, cuda/backprop/backprop_cuda.cu, backprop_cuda_kernel.cu.
 * Differs: WT is not copied in again between the kernels. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"
#include "trace/workloads/rodinia/tile.h"

enum { IN, HID, WT, PART, DELTA, OLDW, ARRAYS };
enum { ROW = TILE + 1, MOST = 126322560 /* 17 (n + 1) is an int in the source */ };

struct backprop_params {
    int64_t n, order, compute_ns;
};

struct backprop {
    struct backprop_params p;
    struct program_alloc allocs[ARRAYS];
};

static const struct param backprop_params[] = {
    PARAM_INT_ROW(backprop_params, n, "inputs", TILE, MOST, 655360, "a multiple of 16"),
    RODINIA_ORDER_ROW(backprop_params),
    PARAM_NS_AUTO_ROW(backprop_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *backprop_open(const void *params, struct err *err)
{
    const struct backprop_params *p = params;
    if (p->n % TILE) {
        err_set(err, "rodinia-backprop: %lld inputs; expected a multiple of 16", (long long)p->n);
        return NULL;
    }
    struct backprop *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *p;
    uint64_t n = (uint64_t)p->n;
    const struct program_alloc allocs[ARRAYS] = {
        [IN] = {.name = "input", .bytes = (n + 1) * 4, .host = true},
        [HID] = {.name = "output_hidden", .bytes = ROW * 4},
        [WT] = {.name = "input_hidden", .bytes = (n + 1) * ROW * 4, .host = true},
        [PART] = {.name = "hidden_partial_sum", .bytes = n * 4},
        [DELTA] = {.name = "hidden_delta", .bytes = ROW * 4, .host = true},
        [OLDW] = {.name = "input_prev_weights", .bytes = (n + 1) * ROW * 4, .host = true},
    };
    for (unsigned i = 0; i < ARRAYS; i++)
        s->allocs[i] = allocs[i];
    program_place(s->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *backprop_allocs(const void *state, size_t *n)
{
    *n = ARRAYS;
    return ((const struct backprop *)state)->allocs;
}

static uint32_t backprop_launches(const void *state)
{
    (void)state;
    return 2;
}

static void backprop_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct backprop *s = state;
    *out = (struct program_launch){.kernel = launch ? "bpnn_adjust_weights_cuda" : "bpnn_layerforward_CUDA",
                                   .blocks = (uint64_t)s->p.n / TILE,
                                   .threads = TILE_THREADS,
                                   .registers = launch ? 28 : 20,
                                   .shared = launch ? 0 : (TILE + TILE_THREADS) * 4};
}

/* Bytes from row to row and from column to column of a warp's two rows. */
static struct program_access *add(const struct backprop *s, struct program_body *body, unsigned array, uint64_t element,
                                  uint64_t row, uint64_t column, uint16_t before)
{
    struct program_access *a = program_load(body, s->allocs, array, element * 4, 4);
    tile_spread(body, a, row, column);
    a->before = before;
    return a;
}

/* The same again, as a store of what was loaded, or as a load. */
static struct program_access *add_again(struct program_body *body, const struct program_access *earlier, uint32_t kind,
                                        uint16_t before)
{
    struct program_access *a = &body->access[body->count++];
    *a = *earlier;
    a->kind = (uint8_t)kind;
    a->use = kind == RECORD_READ;
    a->before = before;
    return a;
}

static void add_barrier(struct program_body *body, uint32_t before)
{
    program_barrier(body);
    body->access[body->count - 1].before = (uint16_t)before;
}

/* row: of lane 0, from 1 on. */
static void forward(const struct backprop *s, uint64_t row, struct program_body *body)
{
    add(s, body, IN, row, 4, 0, 14)->active = 0x10001;
    add_barrier(body, 1);
    struct program_access *weight = add(s, body, WT, ROW * row + 1, ROW * 4, 4, 9);
    weight->use = 6;
    add_barrier(body, 6);
    add_barrier(body, 4);
    for (uint64_t i = 2; i <= TILE; i *= 2) /* rows that are a multiple of it add up */
        add_barrier(body, ((row - 1) % TILE % i ? 5 : 13) + (i == TILE));
    (void)add_again(body, weight, RECORD_WRITE, 1);
    add_barrier(body, 0);
    struct program_access *sum = add(s, body, PART, row - 1, 4, 0, 7);
    sum->active = 0x10001;
    sum->kind = RECORD_WRITE;
    sum->use = 0;
    body->after = 1;
}

/* What block 0 does for the bias: 16 lanes, elements side by side. */
static void bias(const struct backprop *s, struct program_body *body)
{
    static const struct {
        uint8_t array, kind, before;
    } steps[] = {{DELTA, RECORD_READ, 4}, {OLDW, RECORD_READ, 3}, {WT, RECORD_READ, 4},   {WT, RECORD_WRITE, 3},
                 {DELTA, RECORD_READ, 0}, {OLDW, RECORD_READ, 1}, {OLDW, RECORD_WRITE, 4}};
    uint32_t first = body->count;
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        bool loads = steps[i].kind == RECORD_READ;
        if (!loads) {
            rodinia_order(body, first, (enum rodinia_order)s->p.order);
            first = body->count + 1;
        }
        struct program_access *a = loads ? program_load(body, s->allocs, steps[i].array, 4, 4)
                                         : program_store(body, s->allocs, steps[i].array, 4, 4);
        a->active = program_first_lanes(TILE);
        a->before = steps[i].before;
    }
}

static void adjust(const struct backprop *s, uint64_t row, struct program_body *body)
{
    struct program_access *delta = add(s, body, DELTA, 1, 0, 4, 15), *in = add(s, body, IN, row, 4, 0, 5);
    struct program_access *old = add(s, body, OLDW, ROW * row + 1, ROW * 4, 4, 4);
    struct program_access *weight = add(s, body, WT, ROW * row + 1, ROW * 4, 4, 4);
    rodinia_order(body, 0, (enum rodinia_order)s->p.order);
    (void)add_again(body, weight, RECORD_WRITE, 3);
    uint32_t first = body->count;
    (void)add_again(body, delta, RECORD_READ, 0);
    (void)add_again(body, in, RECORD_READ, 2);
    (void)add_again(body, old, RECORD_READ, 1);
    rodinia_order(body, first, (enum rodinia_order)s->p.order);
    (void)add_again(body, old, RECORD_WRITE, 4);
    add_barrier(body, 0);
    if (row == 1)
        bias(s, body);
    body->after = row == 1 ? 1 : 4;
}

static int backprop_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                         struct err *err)
{
    const struct backprop *s = run;
    (void)err;
    if (index > 0)
        return 0;
    (launch ? adjust : forward)(s, 2 * warp + 1, body); /* 8 warps of two rows are the block's 16 */
    return 1;
}

static const struct program_ops backprop_ops = {
    .allocs = backprop_allocs, .launches = backprop_launches, .launch = backprop_launch, .body = backprop_body};

static int backprop_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&backprop_ops, state, ((const struct backprop *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_backprop = {
    .name = "rodinia-backprop",
    .summary = "one training step of a neural network, rows of 17 weights",
    .source = "Rodinia 3.1 cuda/backprop",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = backprop_params,
    .params_size = sizeof(struct backprop_params),
    .open = backprop_open,
    .close = free,
    .program = backprop_program,
};
