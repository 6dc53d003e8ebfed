/* walk: a program instruction by instruction, each with the lines and sectors it touches; what every view that is no
 * closed form is made from, and what closed forms are compared with.
 *
 * Recordings of accesses are walked in the same way (replay/derive/derive.h): whoever takes instructions need not know
 * whether they were recorded or generated. */
#ifndef TRACE_PROGRAM_WALK_H
#define TRACE_PROGRAM_WALK_H

#include "trace/program/lines.h"

/* One memory instruction of a warp with at least one active lane. */
struct program_op {
    uint64_t id;      /* block << 32 | warp in block */
    uint32_t launch;  /* group */
    uint32_t access;  /* enum record_access, or PROGRAM_PIM */
    uint32_t bytes;   /* per lane */
    uint32_t wait;    /* of its warp: loads with the same number are under way together, then the warp waits */
    uint32_t sectors; /* of all lines together */
    int lines;
    struct access_line line[2 * ACCESS_LANES]; /* in the order in which the lanes touch them first */
};

struct program_counts {
    uint64_t launches, instructions, lines, sectors; /* taken */
    uint64_t left_out;                               /* instructions outside the address range or of other kernels */
    uint64_t records;                                /* written by the taker */
};

/* What a walk calls; each returns 0, or -1 with *err set. launch and end may be NULL: nothing to do there. */
struct program_taker {
    /* A KERNEL record: id = row of table kernels, group = launch. */
    int (*launch)(void *ctx, const struct record *kernel, struct err *err);
    int (*op)(void *ctx, const struct program_op *op, struct err *err);
    int (*end)(void *ctx, uint32_t launch, struct err *err);
};

struct program_walk {
    /* Blocks at once on the whole GPU, of a launch: their warps take turns, one instruction each (barriers hold a warp
     * until its block is there), and a block that ends makes room for the next. NULL or 0: one block after the other,
     * warp by warp, each to its end (barriers mean nothing). */
    uint64_t (*resident)(const void *ctx, const struct program_launch *launch);
    const void *ctx;
    bool managed_only; /* leave out what is in GPU memory in any case (program_alloc.device) */
};

/* Go over the program. counts may be NULL. */
int program_walk(const struct program *program, const struct program_walk *how, const struct program_taker *taker,
                 void *ctx, struct program_counts *counts, struct err *err);

#endif
