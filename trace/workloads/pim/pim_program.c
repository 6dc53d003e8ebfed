/* The workloads pim-add ... pim-softmax: a PIM kernel's requests on every channel.
 *
 * Each is a program (pim_program.h). Its stream of requests, what the DRAM engine takes, is its expansion in closed
 * form: request k of all channels, then request k + 1, one each `period` cycles; trace/workloads/pim/pim_program_test.c
 * compares the two. Rows and channels beyond the address map have requests, but no addresses: as a program such a
 * kernel is refused.
 * Source: gupta-2025-f3fs table III and the kernels' loops in Sacusa/PIM_apps (master, d166678); request counts per
 * channel and shares of row changes as its address arithmetic gives them. */
#include "trace/workloads/pim/pim_program.h"

#include <ctype.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { GROUPS = 8, FC_BLOCK = 8, KMEANS_CLUSTERS = 5, KMEANS_FEATURES = 32, SOFTMAX_STEPS = 16, SOFTMAX_SCALARS = 5 };

/* A kernel: how its operations follow from the number of rows R of its arrays. */
struct pim_kernel {
    const char *name;
    uint32_t rows;        /* R in the paper's runs */
    const char *symbols;  /* allocations in order: an upper-case letter has R rows, any other one */
    const char *prologue; /* symbols per column group, runs over all groups separated by '|' */
    const char *body;     /* symbols per row and column group */
    const char *tail;     /* symbols per row and column group, after the body's groups */
    /* Kernels of other shapes; NULL: the strings above. */
    int (*build)(struct pim_ops *ops, uint32_t rows, uint32_t base, struct err *err);
};

static int add(struct pim_ops *ops, uint32_t row, uint32_t group, enum pim_shape shape, struct err *err)
{
    if (ops->limit && ops->count == ops->limit)
        return 0;
    return MEM_ADD(ops->op, ops->count, ops->cap, err, (struct pim_op){row, (uint8_t)group, (uint8_t)shape});
}

int pim_ops_fc(struct pim_ops *ops, uint32_t rows, uint32_t groups, uint32_t base, struct err *err)
{
    const uint32_t input = base + rows, output = base + rows + 1;
    for (uint32_t r = 0; r < rows; r++) {
        if (r % FC_BLOCK == 0 && add(ops, input, r / FC_BLOCK % GROUPS, PIM_SCALAR, err))
            return -1;
        for (uint32_t g = 0; g < groups; g++)
            if (add(ops, base + r, g, PIM_FULL, err) || add(ops, output, g, PIM_FULL, err) ||
                add(ops, output, g, PIM_FULL, err))
                return -1;
    }
    return 0;
}

static int build_fc(struct pim_ops *ops, uint32_t rows, uint32_t base, struct err *err)
{
    return pim_ops_fc(ops, rows, GROUPS, base, err);
}

/* rows: clusters. One row per feature, then the temporary row, then the centres' row for scalar loads. */
static int build_kmeans(struct pim_ops *ops, uint32_t rows, uint32_t base, struct err *err)
{
    const uint32_t temp = base + KMEANS_FEATURES, centres = temp + 1;
    for (uint32_t c = 0; c < rows; c++) {
        for (uint32_t f = 0; f < KMEANS_FEATURES; f++) {
            if (f % 8 == 0 && add(ops, centres, f / 8, PIM_SCALAR, err))
                return -1;
            for (uint32_t g = 0; g < GROUPS; g++)
                if (add(ops, base + f, g, PIM_FULL, err) || add(ops, base + f, g, PIM_FULL, err) ||
                    add(ops, temp, g, PIM_FULL, err) || add(ops, temp, g, PIM_FULL, err))
                    return -1;
        }
        for (uint32_t g = 0; g < GROUPS; g++)
            if (add(ops, temp, g, PIM_FULL, err) || add(ops, temp, g, PIM_FULL, err))
                return -1;
    }
    return 0;
}

static int build_softmax(struct pim_ops *ops, uint32_t rows, uint32_t base, struct err *err)
{
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t i = 0; i < SOFTMAX_STEPS; i++)
            if (add(ops, base + r, i % GROUPS, PIM_FULL, err))
                return -1;
        for (uint32_t i = 0; i < SOFTMAX_SCALARS; i++)
            if (add(ops, base + r, i, PIM_SCALAR, err))
                return -1;
        for (uint32_t g = 0; g < GROUPS; g++)
            if (add(ops, base + r, g, PIM_HALF, err) || add(ops, base + r, g, PIM_FULL, err))
                return -1;
    }
    return 0;
}

/* bn-bwd: Z z, D dz, X dx; v var, p eps, w weight, b bias, m mean, 0 to 5 temporaries, e edz, y eydz, d dw. */
static const struct pim_kernel pim_kernels[] = {
    {"add", 256, "ABC", "", "ABC", "", NULL},
    {"copy", 256, "AB", "", "AB", "", NULL},
    {"daxpy", 256, "AB", "", "ABB", "", NULL},
    {"scale", 256, "A", "", "AA", "", NULL},
    {"bn-fwd", 256, "XZm01bvpw", "vpvv0|wp1", "Xm01bZ", "", NULL},
    {"bn-bwd", 256, "ZDXb012345weymdvp", "vpvv0|wp1|102", "Zb13we4w3y5D452Xm03e4333y41d", "ddd", NULL},
    {"fc", 256, "", "", "", "", build_fc},
    {"kmeans", KMEANS_CLUSTERS, "", "", "", "", build_kmeans},
    {"grim", 32, "Am", "", "Amm", "", NULL},
    {"softmax", 128, "", "", "", "", build_softmax},
    {0}};

const struct pim_kernel *pim_kernel_find(const char *name)
{
    for (const struct pim_kernel *k = pim_kernels; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

/* First row of a symbol. */
static uint32_t row_of(const struct pim_kernel *k, char symbol, uint32_t rows, uint32_t base)
{
    for (const char *p = k->symbols; *p && *p != symbol; p++)
        base += isupper((unsigned char)*p) ? rows : 1;
    return base;
}

/* One run over the column groups with the symbols of text up to '|'. */
static int run(struct pim_ops *ops, const struct pim_kernel *k, const char *text, uint32_t rows, uint32_t base,
               uint32_t r, struct err *err)
{
    for (uint32_t g = 0; g < GROUPS; g++)
        for (const char *p = text; *p && *p != '|'; p++) {
            const uint32_t row = row_of(k, *p, rows, base) + (isupper((unsigned char)*p) ? r : 0);
            if (add(ops, row, g, PIM_FULL, err))
                return -1;
        }
    return 0;
}

int pim_ops_build(struct pim_ops *ops, const struct pim_kernel *k, uint32_t rows, uint32_t base, struct err *err)
{
    if (!rows)
        rows = k->rows;
    if (k->build)
        return k->build(ops, rows, base, err);
    for (const char *p = k->prologue; *p; p += strcspn(p, "|"), p += *p == '|')
        if (run(ops, k, p, rows, base, 0, err))
            return -1;
    for (uint32_t r = 0; r < rows; r++)
        if (run(ops, k, k->body, rows, base, r, err) || run(ops, k, k->tail, rows, base, r, err))
            return -1;
    return 0;
}

void pim_ops_release(struct pim_ops *ops)
{
    free(ops->op);
    memset(ops, 0, sizeof *ops);
}

static int pim_op_requests(const struct pim_op *op)
{
    static const int requests[] = {16, 8, 2};
    return requests[op->shape];
}

static void pim_op_request(const struct pim_op *op, int i, uint32_t *bank, uint32_t *column)
{
    if (op->shape == PIM_SCALAR) {
        *bank = i == 0 ? 8 : 0;
        *column = 8u * op->group;
        return;
    }
    *bank = i < 8 ? 8 : 0;
    *column = 8u * op->group + 7 - (uint32_t)(i & 7);
}

/* --- operations into bodies --- */

enum { PIM_PERIOD_OPS = 4 }; /* operations of a body, at most: 64 accesses */

/* `turns` times operations first .. first + period - 1 of the list, every turn `stride` bytes further on. */
struct pim_body {
    uint32_t first;
    uint8_t period;
    uint32_t turns;
    int64_t stride[PIM_PERIOD_OPS];
};

static uint64_t address(const struct pim_program *p, const struct pim_op *op, uint32_t channel, int request)
{
    struct dram_addr a = {channel, 0, op->row, 0};
    pim_op_request(op, request, &a.bank, &a.column);
    return dram_map_encode(&p->map, a);
}

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
    if (left >= UINT64_C(2) * period)
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
        if (MEM_ADD(p->body, p->bodies, p->cap, err, best))
            return -1;
        at += (size_t)best.turns * best.period;
    }
    return 0;
}

/* --- the program --- */

enum { WARPS_OF_BLOCK = 4 }; /* blocks of 128 threads */

static int warp_of_channel(struct emit *e)
{
    const struct pim_program *p = e->state;
    const uint32_t channel = (uint32_t)(e->at.thread / PROGRAM_LANES);
    if (channel >= p->channels || e->index >= p->bodies)
        return 0;
    const struct pim_body *b = &p->body[e->index];
    e->body->turns = b->turns;
    for (uint32_t k = 0; k < b->period; k++) {
        const struct pim_op *op = &p->ops->op[b->first + k];
        for (int i = 0; i < pim_op_requests(op); i++) {
            struct program_access *a = emit_as(emit_load(e, 0, 0, 0, 0), PROGRAM_PIM);
            a->active = 1;
            a->addr = address(p, op, channel, i);
            a->turn_stride = b->stride[k];
        }
    }
    return emit_end(e, 0);
}

/* The rows of the operations have addresses; the array covers them. */
static int add_rows(struct pim_program *p, struct err *err)
{
    uint32_t rows = 1u << p->map.bits[DRAM_FIELD_ROW], low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < p->ops->count; i++) {
        low = p->ops->op[i].row < low ? p->ops->op[i].row : low;
        high = p->ops->op[i].row > high ? p->ops->op[i].row : high;
    }
    if (high >= rows)
        return err_set(err, "row %u has no address; the address map '%s' has rows 0 to %u", high, PIM_MAP, rows - 1);
    uint64_t row_bytes = dram_map_encode(&p->map, (struct dram_addr){.row = 1});
    p->layout.base = low * row_bytes;
    p->layout.align = 1;
    layout_array(&p->layout, "rows", (high - low + 1) * row_bytes)->device = true;
    return 0;
}

int pim_program(struct pim_program *p, const struct pim_ops *ops, const char *kernel, uint32_t channels,
                struct program *program, struct err *err)
{
    uint32_t warps = channels < WARPS_OF_BLOCK ? channels : WARPS_OF_BLOCK;
    pim_program_release(p);
    layout_init(&p->layout, PARAM_AUTO);
    p->ops = ops;
    p->channels = channels;
    if (dram_map_init(&p->map, PIM_MAP, err))
        return -1;
    uint32_t most = 1u << p->map.bits[DRAM_FIELD_CHANNEL];
    if (channels > most)
        return err_set(err, "%u channels have no addresses; the address map '%s' has %u", channels, PIM_MAP, most);
    if (ops->count == 0)
        return err_set(err, "the kernel has no operation");
    if (add_rows(p, err) || build(p, err))
        return -1;
    layout_kernel(&p->layout, warp_of_channel, kernel, layout_blocks(channels, warps), warps * PROGRAM_LANES, 0, 0);
    return layout_program(p, program, err);
}

void pim_program_release(struct pim_program *p)
{
    free(p->body);
    memset(p, 0, sizeof *p);
}

/* --- the workloads --- */

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
static const struct param pim_keys[] = {
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
    WORKLOAD_NEW(workload_pim_##NAME, pim, "pim-" CLI, TEXT, "gupta-2025-f3fs table III; Sacusa/PIM_apps", pim_keys,   \
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
