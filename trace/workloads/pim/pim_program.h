/* pim_program: a PIM kernel as a program; one launch, a warp for each channel, a store for each request.
 *
 * Warp w of the grid drives channel w. Every operation of the list (pim_ops.h) becomes as many accesses of one lane and
 * four bytes, each at the byte address that PIM_MAP gives to its channel, bank, row and column; operations that repeat
 * evenly (the next column group, the next row, the same again) are turns of one body. The allocation covers the rows of
 * all operations, over all banks and channels: 1 MiB a row. It is GPU memory in any case: nothing of it is managed.
 * Worked example: pim-add, row r: 8 turns of three operations (48 accesses), each turn 16 KiB further on, as column
 * bit 3 is address bit 14.
 * Source: blocks of 128 threads, INDEX() and the masks in common.h, st.cs.global.f32 in STREAM/pim_stream.cu of
 * Sacusa/PIM_apps; pim_ops.h for the order of requests.
 * Differs: 16 active lanes of one store are 16 accesses here, in the order in which the coalescer hands them out, since
 * an access says nothing of the order of its lanes; the fence behind an operation has no word in a program. */
#ifndef TRACE_WORKLOADS_PIM_PIM_PROGRAM_H
#define TRACE_WORKLOADS_PIM_PIM_PROGRAM_H

#include "trace/event/dram_map.h"
#include "trace/program/program.h"
#include "trace/workloads/pim/pim_ops.h"

/* The address bits that the kernels are written for; those of platform gv100. */
#define PIM_MAP "row:13 bank:3 col:3 bank:1 ch:5 col:3 byte:5"

enum { PIM_PERIOD_OPS = 4 }; /* operations of a body, at most: 64 accesses */

/* `turns` times operations first .. first + period - 1 of the list, every turn `stride` bytes further on. */
struct pim_body {
    uint32_t first;
    uint8_t period;
    uint32_t turns;
    int64_t stride[PIM_PERIOD_OPS];
};

struct pim_program {
    const struct pim_ops *ops;
    const char *kernel;
    uint32_t channels;
    struct dram_map map;
    struct program_alloc alloc;
    struct pim_body *body;
    size_t bodies, cap;
};

/* ops, kernel: must outlive the program. Fails if a row or a channel lies outside PIM_MAP, or if there is no operation.
 * Released after failure too. */
int pim_program_init(struct pim_program *p, const struct pim_ops *ops, const char *kernel, uint32_t channels,
                     struct err *err);
void pim_program_release(struct pim_program *p);

/* state: a struct pim_program *. */
extern const struct program_ops pim_program_ops;

#endif
