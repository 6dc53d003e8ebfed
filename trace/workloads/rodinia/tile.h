/* tile: a warp of a block of 16 x 16 threads is two rows of 16 lanes; lane l stands at row l / 16, column l mod 16. */
#ifndef TRACE_WORKLOADS_RODINIA_TILE_H
#define TRACE_WORKLOADS_RODINIA_TILE_H

#include "trace/program/program.h"

enum { TILE = 16, TILE_THREADS = TILE * TILE, TILE_WARPS = TILE_THREADS / PROGRAM_LANES };

/* Give the access, which has lane 0's address, those of the others: so many bytes from row to row and from column to
 * column. */
static inline void tile_spread(struct program_body *body, struct program_access *a, uint64_t row_bytes,
                               uint64_t column_bytes)
{
    uint64_t first = a->addr, *lane = program_scatter(body, a);
    for (uint64_t l = 0; l < PROGRAM_LANES; l++)
        lane[l] = first + l / TILE * row_bytes + l % TILE * column_bytes;
}

/* Give the access the addresses that an earlier one of the body has. */
static inline void tile_again(struct program_access *a, const struct program_access *earlier)
{
    a->lane = earlier->lane;
    a->lane_stride = 0;
}

#endif
