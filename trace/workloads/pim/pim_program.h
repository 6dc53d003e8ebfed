/* pim_program: a PIM kernel as a program; one launch, a warp for each channel, a store for each request.
 *
 * Warp w of the grid drives channel w. Every operation of the list (below) becomes as many accesses of one lane and
 * four bytes, each at the byte address that PIM_MAP gives to its channel, bank, row and column; operations that repeat
 * evenly (the next column group, the next row, the same again) are turns of one body. The allocation covers the rows of
 * all operations, over all banks and channels: 1 MiB a row. It is GPU memory in any case: nothing of it is managed.
 * Worked example: pim-add, row r: 8 turns of three operations (48 accesses), each turn 16 KiB further on, as column
 * bit 3 is address bit 14.
 * Source: blocks of 128 threads, INDEX() and the masks in common.h, st.cs.global.f32 in STREAM/pim_stream.cu of
 * Sacusa/PIM_apps; struct pim_op for the order of requests.
 * Differs: 16 active lanes of one store are 16 accesses here, in the order in which the coalescer hands them out, since
 * an access says nothing of the order of its lanes; the fence behind an operation has no word in a program. */
#pragma once

#include "trace/event/dram_map.h"
#include "trace/program/layout.h"

/* The operations of a PIM kernel on one channel, as a list.
 *
 * One operation on the register file is 16 requests to one row: bank 8 columns 8g+7 down to 8g, then bank 0 the same (g
 * = column group, 0 to 7), as the coalescer hands them out. A scalar load is two requests, one column of bank 8 and one
 * of bank 0; a half operation is bank 8 only. */
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

struct pim_kernel;

/* add copy daxpy scale bn-fwd bn-bwd fc kmeans grim softmax; NULL: no such kernel. */
const struct pim_kernel *pim_kernel_find(const char *name);

/* Append the operations of a kernel with R = rows (0: the paper's), its first row at `base`. */
int pim_ops_build(struct pim_ops *ops, const struct pim_kernel *kernel, uint32_t rows, uint32_t base, struct err *err);
void pim_ops_release(struct pim_ops *ops);

/* Fully connected layer of the collaborative case: like fc but with `groups` column groups only. */
int pim_ops_fc(struct pim_ops *ops, uint32_t rows, uint32_t groups, uint32_t base, struct err *err);

/* The address bits that the kernels are written for; those of platform gv100. */
#define PIM_MAP "row:13 bank:3 col:3 bank:1 ch:5 col:3 byte:5"

struct pim_body;

struct pim_program {
    struct layout layout;
    const struct pim_ops *ops;
    uint32_t channels;
    struct dram_map map;
    struct pim_body *body;
    size_t bodies, cap;
};

/* Makes *p, zeroed or made before, and says it as a program. ops, kernel: must outlive it. Fails if a row or a channel
 * lies outside PIM_MAP, or if there is no operation. Released after failure too. */
int pim_program(struct pim_program *p, const struct pim_ops *ops, const char *kernel, uint32_t channels,
                struct program *program, struct err *err);
void pim_program_release(struct pim_program *p);
