/* accelsim: a kernel's trace file of Accel-Sim and each of its instruction lines, for the reader accelsim.c. */
#ifndef TRACE_IMPORT_ACCELSIM_H
#define TRACE_IMPORT_ACCELSIM_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/base/range_map.h"
#include "trace/import/reader.h"
#include "trace/program/access.h"

/* --- one instruction line, as the NVBit tracer writes it, versions 0 to 6 ---
 *
 *     [tbx tby tbz warp [sm warp_sm]] [source line] PC mask nd R.. OPCODE ns R.. W [mode addresses] [imm ..]
 *
 * Four (or six) leading numbers where a line says whose it is (raw traces, and grouped ones before version 3); the
 * source line with lineinfo. PC and mask are hexadecimal. W 0: no memory operand. Modes: 0 an address per active lane;
 * 1 base and stride; 2 base, then one delta per further active lane; 3 and 4 (version 6, bulk copies): barrier,
 * multicast flag, [multicast mask], bytes, bytes out of bounds, a count, then addresses, or base and deltas.
 * What follows the addresses is not read. The width comes from the opcode (W is wrong in old traces).
 * Source: accel-sim-framework, tracer_nvbit versions 3 (release, 2260456), 5 (dev) and 6; its readme of the formats. */

/* What the header of a trace says about its lines. */
struct accelsim_header {
    int64_t version; /* tracer; 0 if not said */
    bool lineinfo;
    bool owner;                       /* lines start with block and warp */
    bool core;                        /* and go on with multiprocessor and its warp */
    uint64_t shared_base, local_base; /* 0: not said */
    uint32_t grid[3], block[3];
};

enum accelsim_space {
    ACCELSIM_NONE,
    ACCELSIM_GLOBAL,
    ACCELSIM_LOCAL,
    ACCELSIM_SHARED,
    ACCELSIM_CONSTANT,
    ACCELSIM_TEXTURE
};

enum { ACCELSIM_ADDRESSES = 32 };

struct accelsim_op {
    uint32_t block[3], warp; /* with header.owner */
    uint64_t pc;
    uint32_t mask;
    enum accelsim_space space; /* ACCELSIM_NONE: touches no memory, the fields below are not set */
    uint32_t access;           /* enum record_access */
    uint32_t bytes;            /* per address; of a bulk copy its share */
    int lanes;                 /* addresses; 0: no lane was active */
    bool async;                /* LDGSTS: written as two lines, shared destination and global source */
    uint64_t addrs[ACCELSIM_ADDRESSES];
};

/* Parse a line (ended by zero, not changed). NULL, or what is wrong with it. */
const char *accelsim_parse(const char *line, const struct accelsim_header *header, struct accelsim_op *op);

/* --- one kernel's trace file: header, thread blocks and warps, into ACCESS records --- */

enum { ACCELSIM_MEMORIES_MAX = 8192 };

/* Where lanes' addresses lie, and the memory that the list names (row 0; of more than ACCELSIM_MEMORIES_MAX pieces the
 * rest is not known). */
struct accelsim_extent {
    struct range_map known;
    bool built, overflown;
    uint64_t lowest, highest, lanes, outside;
};

int accelsim_extent_add(struct accelsim_extent *extent, uint64_t addr, uint64_t bytes, struct err *err);

/* What all kernels of one import share. */
struct accelsim_import {
    struct reader_context *context;
    struct access_sink sink;
    uint64_t shared, local, constant, texture; /* accesses left out */
    uint64_t missing_blocks, missing_kernels, empty_kernels, empty_warps, kernels;
    uint64_t unreadable; /* instruction lines */
    int64_t copies;      /* to the device */
    const char *chosen;  /* kernels: an id, or a name's regular expression; NULL: all */
    bool by_id;
    regex_t name;
    uint64_t passed_over; /* kernels not chosen */
    struct accelsim_extent extent;
};

/* Read one kernel trace called `name` (for messages) to its end. */
int accelsim_kernel(struct accelsim_import *import, const char *name, struct input_stream *source, struct err *err);

#endif
