/* sectors: the 128 B lines and 32 B sectors of a warp's access, each line once, highest address first, as L1 has them.
 *
 * Lanes at a stride are computed in closed form or lane by lane; only lanes with separate addresses are sorted. Worked
 * example: 32 lanes read 4 B each from byte 0x1010 on: line 0x21 with sector 0, line 0x20 with sectors 0 to 3. For a
 * store each sector says whether all of its 32 bytes are written: here the first and the last are not. Source of the
 * order: GPGPU-Sim 4.0.1, shader.cc, ldst_unit takes accesses from the back of a list in ascending order. */
#pragma once

#include "trace/program/program.h"

enum { SECTORS_LINES = 2 * PROGRAM_LANES, SECTORS_OF_LINE = 4 };

/* Of one access: the lanes of a program_access in one turn. */
struct sectors_of {
    uint64_t first;       /* byte of lane 0 */
    int64_t stride;       /* from a lane to the next */
    const uint64_t *lane; /* or: the byte of each lane, `first` bytes further on; else NULL */
    uint32_t active, bytes;
    bool covers; /* find out which sectors are covered whole */
};

struct sectors_line {
    uint64_t line;   /* address / 128 */
    uint8_t sectors; /* a mask */
    uint8_t whole;   /* those of them that are covered whole, if asked for */
};

/* Returns how many; 0 if no lane is active. */
int sectors_of(const struct sectors_of *access, struct sectors_line line[SECTORS_LINES]);
