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

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { TILE = 16, THREADS = TILE * TILE, ROW = TILE + 1 };
enum { IN, HID, WT, PART, DELTA, OLDW };
enum { MOST = 126322560 /* 17 (n + 1) is an int in the source */ };

struct backprop_params {
    int64_t n, order, compute_ns;
};

static const struct param backprop_params[] = {
    PARAM_INT_ROW(backprop_params, n, "inputs", TILE, MOST, 655360, "a multiple of 16"),
    RODINIA_ORDER_ROW(backprop_params),
    PARAM_NS_AUTO_ROW(backprop_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

/* i of lane 0; a warp is two rows of 16. */
static int64_t input_of(const struct emit *e)
{
    return (int64_t)(e->at.thread / TILE) + 1;
}

static int layerforward(struct emit *e)
{
    int64_t i = input_of(e);
    uint32_t all = e->active, first_columns = 0x10001; /* tx == 0 */
    e->active = first_columns;
    emit_tile(e, emit_load(e, IN, i, 14, 1), TILE, 1, 0);
    emit_barrier(e, 1);
    e->active = all;
    struct program_access *weight = emit_tile(e, emit_load(e, WT, ROW * i + 1, 9, 6), TILE, ROW, 1);
    emit_barrier(e, 6);
    emit_barrier(e, 4);
    for (int64_t k = 2; k <= TILE; k *= 2) /* rows that are a multiple of it add up */
        emit_barrier(e, ((i - 1) % TILE % k ? 5 : 13) + (k == TILE));
    emit_again(e, weight, RECORD_WRITE, 1);
    emit_barrier(e, 0);
    e->active = first_columns;
    emit_tile(e, emit_store(e, PART, i - 1, 7), TILE, 1, 0);
    return emit_end(e, 1);
}

/* What block 0 does for the bias: 16 lanes, elements side by side. */
static void bias(struct emit *e)
{
    uint32_t first = e->body->count;
    e->active = program_first_lanes(TILE);
    emit_load(e, DELTA, 1, 4, 1);
    emit_load(e, OLDW, 1, 3, 1);
    emit_load(e, WT, 1, 4, 1);
    emit_hoist(e, first);
    emit_store(e, WT, 1, 3);
    first = e->body->count;
    emit_load(e, DELTA, 1, 0, 1);
    emit_load(e, OLDW, 1, 1, 1);
    emit_hoist(e, first);
    emit_store(e, OLDW, 1, 4);
}

static int adjust_weights(struct emit *e)
{
    int64_t i = input_of(e);
    struct program_access *delta = emit_tile(e, emit_load(e, DELTA, 1, 15, 1), TILE, 0, 1);
    struct program_access *in = emit_tile(e, emit_load(e, IN, i, 5, 1), TILE, 1, 0);
    struct program_access *old = emit_tile(e, emit_load(e, OLDW, ROW * i + 1, 4, 1), TILE, ROW, 1);
    struct program_access *weight = emit_tile(e, emit_load(e, WT, ROW * i + 1, 4, 1), TILE, ROW, 1);
    emit_hoist(e, 0);
    emit_again(e, weight, RECORD_WRITE, 3);
    uint32_t first = e->body->count;
    emit_again(e, delta, RECORD_READ, 0);
    emit_again(e, in, RECORD_READ, 2);
    emit_again(e, old, RECORD_READ, 1);
    emit_hoist(e, first);
    emit_again(e, old, RECORD_WRITE, 4);
    emit_barrier(e, 0);
    if (i == 1)
        bias(e);
    return emit_end(e, i == 1 ? 1 : 4);
}

static void *backprop_open(const void *params, struct err *err)
{
    const struct backprop_params *p = params;
    uint64_t n = (uint64_t)p->n;
    if (p->n % TILE) {
        err_set(err, "rodinia-backprop: %lld inputs; expected a multiple of 16", (long long)p->n);
        return NULL;
    }
    struct plan *plan = rodinia_new(sizeof *plan, p->order, p->compute_ns, err);
    if (!plan)
        return NULL;
    plan_input(plan, "input", (n + 1) * 4);
    plan_array(plan, "output_hidden", ROW * 4);
    plan_input(plan, "input_hidden", (n + 1) * ROW * 4);
    plan_array(plan, "hidden_partial_sum", n * 4);
    plan_input(plan, "hidden_delta", ROW * 4);
    plan_input(plan, "input_prev_weights", (n + 1) * ROW * 4);
    plan_straight(plan, layerforward, "bpnn_layerforward_CUDA", n / TILE, THREADS, 20, (TILE + THREADS) * 4);
    plan_straight(plan, adjust_weights, "bpnn_adjust_weights_cuda", n / TILE, THREADS, 28, 0);
    plan->launches = 2;
    return plan;
}

const struct workload_type workload_rodinia_backprop = {
    .name = "rodinia-backprop",
    .summary = "one training step of a neural network, rows of 17 weights",
    .source = "Rodinia 3.1 cuda/backprop",
    WORKLOAD_WITH_KEYS(backprop),
    .close = free,
    .program = plan_program,
};
