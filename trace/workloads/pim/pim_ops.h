/* pim_ops: the operations of a PIM kernel on one channel, as a list.
 *
 * One operation on the register file is 16 requests to one row: bank 8 columns 8g+7 down to 8g, then bank 0 the same (g
 * = column group, 0 to 7), as the coalescer hands them out. A scalar load is two requests, one column of bank 8 and one
 * of bank 0; a half operation is bank 8 only. */
#ifndef TRACE_WORKLOADS_PIM_PIM_OPS_H
#define TRACE_WORKLOADS_PIM_PIM_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

enum pim_shape { PIM_FULL, PIM_HALF, PIM_SCALAR };

struct pim_op {
    uint32_t row;
    uint8_t group; /* column group, 0 to 7 */
    uint8_t shape; /* enum pim_shape */
};

struct pim_ops {
    struct pim_op *op;
    size_t count, cap;
    size_t limit; /* operations at most; the rest is left off */
};

/* A kernel: how its operations follow from the number of rows R of its arrays. */
struct pim_kernel {
    const char *name, *summary;
    uint32_t rows;        /* R in the paper's runs */
    const char *symbols;  /* allocations in order: an upper-case letter has R rows, any other one */
    const char *prologue; /* symbols per column group, runs over all groups separated by '|' */
    const char *body;     /* symbols per row and column group */
    const char *tail;     /* symbols per row and column group, after the body's groups */
    /* Kernels of other shapes; NULL: the strings above. */
    int (*build)(struct pim_ops *ops, uint32_t rows, uint32_t base, struct err *err);
};

/* add copy daxpy scale bn-fwd bn-bwd fc kmeans grim softmax; ends with a row without name. */
extern const struct pim_kernel pim_kernels[];

const struct pim_kernel *pim_kernel_find(const char *name);

/* Append the operations of a kernel with R = rows (0: the paper's), its first row at `base`. */
int pim_ops_build(struct pim_ops *ops, const struct pim_kernel *kernel, uint32_t rows, uint32_t base, struct err *err);
void pim_ops_release(struct pim_ops *ops);

/* Requests of one operation. */
int pim_op_requests(const struct pim_op *op);

/* Request i of an operation: bank and column. */
void pim_op_request(const struct pim_op *op, int i, uint32_t *bank, uint32_t *column);

/* Fully connected layer of the collaborative case: like fc but with `groups` column groups only. */
int pim_ops_fc(struct pim_ops *ops, uint32_t rows, uint32_t groups, uint32_t base, struct err *err);

#endif
