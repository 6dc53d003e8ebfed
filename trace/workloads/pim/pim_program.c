#include "trace/workloads/pim/pim_program.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { WARPS_OF_BLOCK = 4 }; /* blocks of 128 threads */

static uint64_t address(const struct pim_program *p, const struct pim_op *op, uint32_t channel, int request)
{
    struct dram_addr a = {channel, 0, op->row, 0};
    pim_op_request(op, request, &a.bank, &a.column);
    return dram_map_encode(&p->map, a);
}

/* --- operations into bodies --- */

/* Whether the period of operations from `at` on is that from `first` on, `turn` strides further on. */
static bool repeats(const struct pim_program *p, const struct pim_body *b, uint32_t turn)
{
    for (uint32_t k = 0; k < b->period; k++) {
        const struct pim_op *from = &p->ops->op[b->first + k], *op = from + (size_t)turn * b->period;
        if (op->shape != from->shape || address(p, op, 0, 0) != address(p, from, 0, 0) + turn * (uint64_t)b->stride[k])
            return false;
    }
    return true;
}

/* The body of that period from operation `first` on. */
static struct pim_body body_from(const struct pim_program *p, size_t first, uint8_t period)
{
    struct pim_body b = {.first = (uint32_t)first, .period = period, .turns = 1};
    size_t left = p->ops->count - first;
    if (left >= 2u * period)
        for (uint32_t k = 0; k < period; k++)
            b.stride[k] =
                (int64_t)(address(p, &p->ops->op[first + period + k], 0, 0) - address(p, &p->ops->op[first + k], 0, 0));
    while ((b.turns + 1ull) * period <= left && repeats(p, &b, b.turns))
        b.turns++;
    return b;
}

/* Each body is the one that covers most operations; the shortest period of equals. */
static int build(struct pim_program *p, struct err *err)
{
    for (size_t at = 0; at < p->ops->count;) {
        struct pim_body best = body_from(p, at, 1);
        for (uint8_t period = 2; period <= PIM_PERIOD_OPS && period <= p->ops->count - at; period++) {
            struct pim_body b = body_from(p, at, period);
            if (b.turns > 1 && (size_t)b.turns * b.period > (size_t)best.turns * best.period)
                best = b;
        }
        if (mem_grow((void **)&p->body, &p->cap, p->bodies + 1, sizeof *p->body, err))
            return -1;
        p->body[p->bodies++] = best;
        at += (size_t)best.turns * best.period;
    }
    return 0;
}

int pim_program_init(struct pim_program *p, const struct pim_ops *ops, const char *kernel, uint32_t channels,
                     struct err *err)
{
    memset(p, 0, sizeof *p);
    p->ops = ops;
    p->kernel = kernel;
    p->channels = channels;
    if (dram_map_init(&p->map, PIM_MAP, err))
        return -1;
    uint32_t most = 1u << p->map.bits[DRAM_FIELD_CHANNEL], rows = 1u << p->map.bits[DRAM_FIELD_ROW];
    if (channels > most)
        return err_set(err, "%u channels have no addresses; the address map '%s' has %u", channels, PIM_MAP, most);
    if (ops->count == 0)
        return err_set(err, "the kernel has no operation");
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < ops->count; i++) {
        low = ops->op[i].row < low ? ops->op[i].row : low;
        high = ops->op[i].row > high ? ops->op[i].row : high;
    }
    if (high >= rows)
        return err_set(err, "row %u has no address; the address map '%s' has rows 0 to %u", high, PIM_MAP, rows - 1);
    uint64_t row_bytes = dram_map_encode(&p->map, (struct dram_addr){.row = 1});
    p->alloc = (struct program_alloc){
        .name = "rows", .addr = low * row_bytes, .bytes = (high - low + 1) * row_bytes, .device = true};
    return build(p, err);
}

void pim_program_release(struct pim_program *p)
{
    free(p->body);
    memset(p, 0, sizeof *p);
}

/* --- the program --- */

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    *n = 1;
    return &((const struct pim_program *)state)->alloc;
}

static uint32_t launches(const void *state)
{
    (void)state;
    return 1;
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct pim_program *p = state;
    uint32_t warps = p->channels < WARPS_OF_BLOCK ? p->channels : WARPS_OF_BLOCK;
    (void)number;
    *out = (struct program_launch){
        .kernel = p->kernel, .blocks = (p->channels + warps - 1) / warps, .threads = warps * PROGRAM_LANES};
}

static int body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out, struct err *err)
{
    const struct pim_program *p = run;
    (void)number;
    (void)err;
    if (warp >= p->channels || index >= p->bodies)
        return 0;
    const struct pim_body *b = &p->body[index];
    out->turns = b->turns;
    for (uint32_t k = 0; k < b->period; k++) {
        const struct pim_op *op = &p->ops->op[b->first + k];
        for (int i = 0; i < pim_op_requests(op); i++) {
            struct program_access *a = program_store(out, &p->alloc, 0, 0, 4);
            a->kind = PROGRAM_PIM;
            a->active = 1;
            a->addr = address(p, op, (uint32_t)warp, i);
            a->turn_stride = b->stride[k];
        }
    }
    return 1;
}

const struct program_ops pim_program_ops = {.allocs = allocs, .launches = launches, .launch = launch, .body = body};
