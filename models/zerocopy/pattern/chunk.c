/* chunk: one warp for eight consecutive vertices, each list read as by aligned.
 *
 * Source: EMOGI 382dbcc, bfs.cu (coalesce and chunk). */
#include "models/zerocopy/window.h"

/* EMOGI's CHUNK_SIZE. */
enum { CHUNK_VERTICES = 8 };

WINDOW_HOOKS(window_line(view), CHUNK_VERTICES)

const struct zerocopy_pattern zerocopy_chunk = {
    .head = {.name = "chunk",
             .summary = "a warp for eight consecutive vertices, each list read as by aligned",
             .source = "EMOGI 382dbcc, bfs.cu (coalesce and chunk)"},
    .shapes = 1 << SCAN_LISTS,
    .default_reuse = {REUSE_NONE, REUSE_PREVWARP, REUSE_NONE},
    WINDOW_COUNTER,
};
