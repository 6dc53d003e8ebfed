/* sectors: the 32 B sectors that a warp's access touches, highest address first, each once: the order in which an L1
 * takes them.
 *
 * Lanes at a stride give them in closed form or lane by lane in order; only lanes with addresses of their own are
 * sorted. Worked example: 32 lanes read 4 B each from byte 0x1010 on: sectors 0x84, 0x83, 0x82, 0x81, 0x80 (5). A store
 * says of each sector whether all of its 32 bytes are written: the first and the last are not, here.
 * Source: order: GPGPU-Sim 4.0.1, shader.cc, ldst_unit takes accesses from the back of a list in ascending order. */
#ifndef MODELS_GPU_SECTORS_H
#define MODELS_GPU_SECTORS_H

#include "trace/program/program.h"

enum { SECTORS_MOST = 2 * PROGRAM_LANES, SECTOR_BYTES = 32 };

/* Of one access: the lanes of a program_access in one turn. */
struct sectors_of {
    uint64_t first;       /* byte of lane 0 */
    int64_t stride;       /* from a lane to the next */
    const uint64_t *lane; /* or: the byte of each lane, `first` bytes further on; else NULL */
    uint32_t active, bytes;
    bool covers; /* find out which sectors are covered whole */
};

/* A sector: address / 32, and in SECTOR_WHOLE whether it is covered whole (if asked for). */
#define SECTOR_WHOLE (UINT64_C(1) << 63)

/* Returns how many; 0 if no lane is active. */
int sectors_of(const struct sectors_of *access, uint64_t sector[SECTORS_MOST]);

#endif
