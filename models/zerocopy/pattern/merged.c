/* merged: one warp for each list, reading 32 consecutive elements at a time from the list's start. */
#include "models/zerocopy/window.h"

WINDOW_HOOKS(0, 1)

const struct zerocopy_pattern zerocopy_merged = {
    .head = {.name = "merged",
             .summary = "a warp for each list, 32 consecutive elements at a time from its start",
             .source = "dissertation, sections 2.3.3 and 2.4.3 (merged)"},
    .shapes = 1 << SCAN_LISTS | 1 << SCAN_ARRAY,
    .default_reuse = {REUSE_NONE, REUSE_PREVWARP, REUSE_NONE},
    WINDOW_COUNTER,
};
