/* The workloads pim-add ... pim-softmax: a PIM kernel's requests on every channel.
 *
 * Each is a program (pim_program.h). Its stream of requests, what the DRAM engine takes, is its expansion in closed
 * form: request k of all channels, then request k + 1, one each `period` cycles; trace/workloads/pim/pim_program_test.c
 * compares the two. Rows and channels beyond the address map have requests, but no addresses: as a program such a
 * kernel is refused. */
#include "trace/base/mem.h"
#include "trace/event/dram_map.h"
#include "trace/workloads/pim/pim_program.h"
#include "trace/workloads/workload.h"

struct pim {
    int64_t rows, ops, period, channels, base_row; /* keys */
    struct pim_ops list;
    struct pim_program program; /* made when asked for */
    const char *kernel;
    size_t op;
    int request;
    uint32_t channel;
    uint64_t number; /* requests so far, of one channel */
};

/* Rows of PIM data start at 4096, above those of the gpu-* workloads: the two never share a row, as separate
 * allocations never do. Period 3: a channel's share of the issuing SM's port (models/platforms/gv100.ini). */
static const struct param keys[] = {
    PARAM_INT_ROW(pim, rows, "rows", 0, 65536, 0, "rows of each array (kmeans: clusters); 0: the paper's"),
    PARAM_INT_ROW(pim, ops, "", 0, 1e9, 0, "operations at most, of 16 requests each; 0: all"),
    PARAM_INT_ROW(pim, period, "cycles", 1, 1e6, 3, "cycles between the requests of a channel"),
    PARAM_INT_ROW(pim, channels, "", 1, 4096, 32, "channels, all with the same requests"),
    PARAM_INT_ROW(pim, base_row, "", 0, 8000000, 4096, "first row of the kernel's arrays"),
    {0}};

static void close_pim(void *p)
{
    struct pim *s = p;
    pim_program_release(&s->program);
    pim_ops_release(&s->list);
    free(s);
}

static void *open_pim(const char *name, const void *params, struct err *err)
{
    struct pim *s = workload_new(params, sizeof *s, err);
    if (!s)
        return NULL;
    s->kernel = name;
    s->list.limit = (size_t)s->ops;
    if (pim_ops_build(&s->list, pim_kernel_find(name), (uint32_t)s->rows, (uint32_t)s->base_row, err) == 0)
        return s;
    close_pim(s);
    return NULL;
}

static int next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    (void)err;
    struct pim *s = state;
    for (*n = 0; *n < cap && s->op < s->list.count; (*n)++) {
        const struct pim_op *op = &s->list.op[s->op];
        struct dram_addr a = {s->channel, 0, op->row, 0};
        pim_op_request(op, s->request, &a.bank, &a.column);
        records[*n] = (struct record){.kind = RECORD_PIM,
                                      .time = (int64_t)s->number * s->period,
                                      .addr = dram_addr_pack(a),
                                      .bytes = 32,
                                      .id = s->number * (uint64_t)s->channels + s->channel};
        if (++s->channel < (uint32_t)s->channels)
            continue;
        s->channel = 0;
        s->number++;
        if (++s->request == pim_op_requests(op)) {
            s->request = 0;
            s->op++;
        }
    }
    return 0;
}

static int as_program(void *state, struct program *program, struct err *err)
{
    struct pim *s = state;
    return pim_program(&s->program, &s->list, s->kernel, (uint32_t)s->channels, program, err);
}

#define PIM(NAME, CLI, TEXT)                                                                                           \
    WORKLOAD_NEW(workload_pim_##NAME, pim, "pim-" CLI, TEXT, "gupta-2025-f3fs table III; Sacusa/PIM_apps", keys,       \
                 open_pim, CLI, close_pim, .produces = WORKLOAD_REQUESTS, .next = next, .views = VIEW_DRAM,            \
                 .program = as_program)

PIM(add, "add", "PIM kernel P1: C = A + B");
PIM(copy, "copy", "PIM kernel P2: B = A");
PIM(daxpy, "daxpy", "PIM kernel P3: B = a A + B");
PIM(scale, "scale", "PIM kernel P4: A = a A");
PIM(bn_fwd, "bn-fwd", "PIM kernel P5: batch normalisation, forward");
PIM(bn_bwd, "bn-bwd", "PIM kernel P6: batch normalisation, backward");
PIM(fc, "fc", "PIM kernel P7: fully connected layer");
PIM(kmeans, "kmeans", "PIM kernel P8: k-means");
PIM(grim, "grim", "PIM kernel P9: GRIM filter");
PIM(softmax, "softmax", "PIM kernel: softmax of the language model");
