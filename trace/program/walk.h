/* walk: a program instruction by instruction, each with the lines and sectors it touches; what every view that is no
 * closed form is made from, and what closed forms are compared with.
 *
 * Recordings of accesses are walked in the same way (replay/derive/derive.h): whoever takes instructions need not know
 * whether they were recorded or generated. */
#pragma once

#include "trace/program/access.h"
#include "trace/program/program.h"

/* --- lines: the 128 B lines and 32 B sectors that one memory instruction of a program touches, in order of first
 * touch ---
 *
 * Lanes a stride apart are answered without going lane by lane where the stride leaves no sector out, or is a multiple
 * of a line; the answer is that of access_lines() for the lanes' addresses, line by line.
 * Worked example: 32 lanes of 4 B, 16 B apart, from byte 96 on: bytes 96 to 595: sector 3 of line 0, lines 128, 256 and
 * 384 whole, sectors 0 to 2 of line 512. */

/* The lines of one access in one turn; their number (0: no lane is active). *sectors: of all of them. */
int program_lines_counted(const struct program_access *access, uint64_t turn,
                          struct access_line lines[2 * ACCESS_LANES], uint32_t *sectors);

/* The same, without the sum. */
static inline int program_lines(const struct program_access *access, uint64_t turn,
                                struct access_line lines[2 * ACCESS_LANES])
{
    uint32_t sectors;
    return program_lines_counted(access, turn, lines, &sectors);
}

/* --- the walk --- */

/* One memory instruction of a warp with at least one active lane. */
struct program_op {
    uint64_t id;      /* block << 32 | warp in block */
    uint64_t pc;      /* of a recording; of a program 16 times its place in its body, from 1 */
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
