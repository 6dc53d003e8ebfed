/* The workload llm: the collaborative case, one layer of a GPT-3-like model split over PIM and GPU, done once.
 *
 * PIM side: fully connected (1024 weight rows), softmax (128 rows), fully connected on one column group (1024 rows),
 * one after the other, all cut to 1/scale. GPU side: matrix products as a synthetic stream (rate 0.30, miss 0.40, 16
 * columns per row visit), sized to 1.25 times the time that the PIM side takes alone: 64 cycles for an operation of
 * another row than the one before, else `period` per request. Source: gupta-2025-f3fs section VI (LLM); the GPU side's
 * stream is ours.
 * It is no program: its two sides run side by side, where the launches of a program follow each other, and the GPU side
 * is a stream of rates without instructions. Only the DRAM view can be taken. */
#include <stdbool.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/ml/suite.h"
#include "trace/workloads/pim/gpu_source.h"
#include "trace/workloads/pim/pim_ops.h"
#include "trace/workloads/stream.h"

struct keys {
    int64_t scale, window, seed, period, base_row;
    double gpu_share;
};

static const struct param keys[] = {
    PARAM_INT_ROW(keys, scale, "", 1, 128, 8, "the kernels' rows are divided by this"),
    PARAM_INT_ROW(keys, window, "requests", 1, 1e9, 320, "GPU requests in flight"),
    PARAM_INT_ROW(keys, seed, "", 0, 1e15, 1, "seed of the GPU side"),
    PARAM_INT_ROW(keys, period, "cycles", 1, 1e6, 3, "cycles between PIM requests"),
    PARAM_INT_ROW(keys, base_row, "", 0, 8000000, 4096, "first row of the PIM side's arrays"),
    PARAM_REAL_ROW(keys, gpu_share, "", 0.001, 1000, 1.25, "GPU side's time alone over the PIM side's"),
    {0}};

/* GEMM of the language model: streaming operands in long row visits. */
static const struct gpu_character gemm = {"gemm", .30, .40, 16, 8, .10, 128, 320, 320, 1, 1, 0, 0};

struct state {
    struct keys keys;
    struct pim_ops ops;
    size_t op;
    int request;
    uint64_t pim_number, id;
    struct gpu_source gpu;
    struct record ahead;
    bool live;
};

static void close_llm(void *p)
{
    struct state *s = p;
    pim_ops_release(&s->ops);
    free(s);
}

static int build(struct state *s, struct err *err)
{
    const uint32_t scale = (uint32_t)s->keys.scale, base = (uint32_t)s->keys.base_row;
    const uint32_t weights = 1024 / scale, rows = 128 / scale;
    return pim_ops_fc(&s->ops, weights, 8, base, err) ||
                   pim_ops_build(&s->ops, pim_kernel_find("softmax"), rows, base + 2048, err) ||
                   pim_ops_fc(&s->ops, weights, 1, base + 2304, err)
               ? -1
               : 0;
}

/* Of the PIM side alone. */
static int64_t pim_cycles(const struct state *s)
{
    int64_t cycles = 0;
    for (size_t i = 0; i < s->ops.count; i++) {
        const int64_t limited = s->keys.period * pim_op_requests(&s->ops.op[i]);
        const int64_t served = 2 * (pim_op_requests(&s->ops.op[i]) - 1) + 34;
        const bool other = i == 0 || s->ops.op[i].row != s->ops.op[i - 1].row;
        cycles += other && served > limited ? served : limited;
    }
    return cycles;
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
    gpu_source_init(&s->gpu, &gemm, (uint64_t)s->keys.seed, 0,
                    (uint64_t)((double)pim_cycles(s) * s->keys.gpu_share * gemm.rate) + 1, 0);
    s->live = gpu_source_next(&s->gpu, &s->ahead);
    return s;
}

static void pim_next(struct state *s, int64_t time, struct record *r)
{
    const struct pim_op *op = &s->ops.op[s->op];
    struct dram_addr a = {0, 0, op->row, 0};
    pim_op_request(op, s->request, &a.bank, &a.column);
    *r = (struct record){.kind = RECORD_PIM, .time = time, .addr = dram_addr_pack(a), .bytes = 32};
    s->pim_number++;
    if (++s->request == pim_op_requests(op)) {
        s->request = 0;
        s->op++;
    }
}

static int next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    (void)err;
    struct state *s = state;
    for (*n = 0; *n < cap; (*n)++) {
        const int64_t pim_time = (int64_t)s->pim_number * s->keys.period;
        const bool pim = s->op < s->ops.count;
        if (!pim && !s->live)
            return 0;
        if (!pim || (s->live && s->ahead.time <= pim_time)) {
            records[*n] = s->ahead;
            s->live = gpu_source_next(&s->gpu, &s->ahead);
        } else {
            pim_next(s, pim_time, &records[*n]);
        }
        if (records[*n].kind != RECORD_KERNEL_END)
            records[*n].id = s->id++;
    }
    return 0;
}

static void facts(const void *state, struct stream_facts *f)
{
    const struct state *s = state;
    *f = (struct stream_facts){.window = s->keys.window, .sms = 80, .synthetic = true, .once = true};
}

static const struct stream_ops ops = {facts};

const struct workload_type workload_llm = {
    .name = "llm",
    .summary = "collaborative language-model layer: PIM side and synthetic GPU side, done once",
    .source = "gupta-2025-f3fs section VI; GPU side ours",
    .produces = WORKLOAD_REQUESTS,
    .params = keys,
    .params_size = sizeof(struct keys),
    .open = open_llm,
    .close = close_llm,
    .ops = &ops,
    .next = next,
    .views = VIEW_DRAM,
};
