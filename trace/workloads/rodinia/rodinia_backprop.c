/* rodinia-backprop: one training step of a neural network between n inputs and 16 hidden units, two kernels.
 *
 * Blocks of 16 x 16 threads, by = block, i = 16 by + ty + 1, e = 17 i + tx + 1: rows of 17 floats, so 68 B apart. A
 * warp is two rows of 16. Worked example: block 0, warp 0: IN[1], IN[2] in lanes 0 and 16; WT[18 to 33] and [35 to 50].
 * Source: Rodinia 3.1, cuda/backprop/backprop_cuda.cu, backprop_cuda_kernel.cu.
 * Differs: WT is not copied in again between the kernels. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { TILE = 16, THREADS = TILE * TILE, ROW = TILE + 1 };
enum { IN, HID, WT, PART, DELTA, OLDW };
enum { MOST = 126322560 /* 17 (n + 1) is an int in the source */ };

struct backprop {
    struct layout layout;
    int64_t n;
};

static const struct param backprop_keys[] = {
    PARAM_INT_ROW(backprop, n, "inputs", TILE, MOST, 655360, "a multiple of 16"),
    RODINIA_KEYS("time of a warp whose data is all at hand")};

static int layerforward(struct emit *e)
{
    int64_t i = e->at.thread / TILE + 1;
    uint32_t all = e->active, first_columns = 0x10001; /* tx == 0 */
    e->active = first_columns;
    emit_tile(e, emit_load(e, IN, i, 14, 1), TILE, 1, 0);
    emit_barrier(e, 1);
    e->active = all;
    struct program_access *weight = emit_tile(e, emit_load(e, WT, ROW * i + 1, 9, 6), TILE, ROW, 1);
    emit_barrier(e, 6);
    emit_barrier(e, 4);
    for (int64_t k = 2; k <= TILE; k *= 2) /* in shared memory: rows that are a multiple of it add up */
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
    int64_t i = e->at.thread / TILE + 1;
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

static int backprop_init(struct backprop *s, struct err *err)
{
    uint64_t n = s->n, weights = (n + 1) * ROW * 4;
    if (n % TILE)
        return err_set(err, "rodinia-backprop: %lld inputs; expected a multiple of 16", (long long)s->n);
    LAYOUT_ARRAYS(&s->layout, {"+input", (n + 1) * 4}, {"output_hidden", ROW * UINT64_C(4)}, {"+input_hidden", weights},
                  {"hidden_partial_sum", n * 4}, {"+hidden_delta", ROW * UINT64_C(4)},
                  {"+input_prev_weights", weights});
    layout_straight(&s->layout, layerforward, "bpnn_layerforward_CUDA", n / TILE, THREADS, 20, (TILE + THREADS) * 4);
    layout_straight(&s->layout, adjust_weights, "bpnn_adjust_weights_cuda", n / TILE, THREADS, 28, 0);
    s->layout.launches = 2;
    return 0;
}

RODINIA(backprop, "backprop", "backprop", "one training step of a neural network, rows of 17 weights", free);
