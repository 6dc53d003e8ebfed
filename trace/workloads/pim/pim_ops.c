/* Source: gupta-2025-f3fs table III and the kernels' loops in Sacusa/PIM_apps (master, d166678); request counts per
 * channel and shares of row changes as its address arithmetic gives them. */
#include "trace/workloads/pim/pim_program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { GROUPS = 8, FC_BLOCK = 8, KMEANS_CLUSTERS = 5, KMEANS_FEATURES = 32, SOFTMAX_STEPS = 16, SOFTMAX_SCALARS = 5 };

static int add(struct pim_ops *ops, uint32_t row, uint32_t group, enum pim_shape shape, struct err *err)
{
    if (ops->limit && ops->count == ops->limit)
        return 0;
    if (mem_grow((void **)&ops->op, &ops->cap, ops->count + 1, sizeof *ops->op, err))
        return -1;
    ops->op[ops->count++] = (struct pim_op){row, (uint8_t)group, (uint8_t)shape};
    return 0;
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
const struct pim_kernel pim_kernels[] = {
    {"add", "STREAM-Add: C = A + B (P1)", 256, "ABC", "", "ABC", "", NULL},
    {"copy", "STREAM-Copy: B = A (P2)", 256, "AB", "", "AB", "", NULL},
    {"daxpy", "B = a A + B (P3)", 256, "AB", "", "ABB", "", NULL},
    {"scale", "STREAM-Scale: A = a A (P4)", 256, "A", "", "AA", "", NULL},
    {"bn-fwd", "batch normalisation, forward (P5)", 256, "XZm01bvpw", "vpvv0|wp1", "Xm01bZ", "", NULL},
    {"bn-bwd", "batch normalisation, backward (P6)", 256, "ZDXb012345weymdvp", "vpvv0|wp1|102",
     "Zb13we4w3y5D452Xm03e4333y41d", "ddd", NULL},
    {"fc", "fully connected layer (P7)", 256, "", "", "", "", build_fc},
    {"kmeans", "k-means, 5 clusters of 32 features (P8)", KMEANS_CLUSTERS, "", "", "", "", build_kmeans},
    {"grim", "GRIM filter: bit vectors and a mask (P9)", 32, "Am", "", "Amm", "", NULL},
    {"softmax", "softmax of the language model, 128 rows", 128, "", "", "", "", build_softmax},
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

int pim_op_requests(const struct pim_op *op)
{
    static const int requests[] = {16, 8, 2};
    return requests[op->shape];
}

void pim_op_request(const struct pim_op *op, int i, uint32_t *bank, uint32_t *column)
{
    if (op->shape == PIM_SCALAR) {
        *bank = i == 0 ? 8 : 0;
        *column = 8u * op->group;
        return;
    }
    *bank = i < 8 ? 8 : 0;
    *column = 8u * op->group + 7 - (uint32_t)(i & 7);
}
