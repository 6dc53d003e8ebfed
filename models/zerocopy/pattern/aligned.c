/* aligned: as merged, but the first index is rounded down to a multiple of 128 B / element size; the lanes below the
 * list's start are masked off, except where the kernel loads before it tests (EMOGI's SSSP).
 *
 * Rounding is of the index, as in EMOGI: lines are met only if the structure starts at a multiple of 128 B. A companion
 * structure is read at the same indices: 4-byte weights beside 8-byte elements start at a multiple of 64 B.
 * Source: dissertation, section 2.4.3 and listing 2.2 (whose printed tests are wrong); EMOGI 382dbcc, bfs.cu, sssp.cu.
 */
#include "models/zerocopy/pattern.h"
#include "models/zerocopy/window.h"

static uint32_t rounding(const struct pattern_view *view)
{
    return view->round ? view->round : LINE_BYTES / view->element;
}

static struct pattern_counter *counter_new(const struct pattern_view *view, struct err *err)
{
    return window_counter_new(view, rounding(view), 1, err);
}

static int expand(const struct pattern_view *view, const struct scan *scans, size_t n, struct pattern_carry *carry,
                  struct coalescer *c, struct err *err)
{
    (void)carry;
    return window_expand(view, rounding(view), 1, scans, n, c, err);
}

const struct zerocopy_pattern zerocopy_aligned = {
    .head = {.name = "aligned",
             .summary = "as merged, the first index rounded down to a 128 B line",
             .source = "dissertation, section 2.4.3; EMOGI 382dbcc, bfs.cu (coalesce)"},
    .shapes = 1 << SCAN_LISTS | 1 << SCAN_ARRAY,
    .defaults = {REUSE_NONE, REUSE_PREVWARP, REUSE_NONE},
    .counter_new = counter_new,
    .counter_free = window_counter_free,
    .count = window_count,
    .finish = window_finish,
    .expand = expand,
};
