/* aligned: as merged, but the first index is rounded down to a multiple of 128 B / element size; the lanes below the
 * list's start are masked off, except where the kernel loads before it tests (EMOGI's SSSP).
 *
 * Rounding is of the index, as in EMOGI: lines are met only if the structure starts at a multiple of 128 B. A companion
 * structure is read at the same indices: 4-byte weights beside 8-byte elements start at a multiple of 64 B.
 * Source: dissertation, section 2.4.3, listing 2.2 (whose printed tests are wrong); EMOGI 382dbcc, bfs.cu, sssp.cu. */
#include "models/zerocopy/window.h"

WINDOW_HOOKS(window_line(view), 1)

const struct zerocopy_pattern zerocopy_aligned = {
    .head = {.name = "aligned",
             .summary = "as merged, the first index rounded down to a 128 B line",
             .source = "dissertation, section 2.4.3; EMOGI 382dbcc, bfs.cu (coalesce)"},
    .shapes = 1 << SCAN_LISTS | 1 << SCAN_ARRAY,
    .default_reuse = {REUSE_NONE, REUSE_PREVWARP, REUSE_NONE},
    WINDOW_COUNTER,
};
