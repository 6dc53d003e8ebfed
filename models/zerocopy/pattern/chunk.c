/* chunk: one warp for eight consecutive vertices, each list read as by aligned.
 *
 * Source: EMOGI 382dbcc, bfs.cu (coalesce and chunk). */
#include "models/zerocopy/pattern.h"
#include "models/zerocopy/window.h"

/* EMOGI's CHUNK_SIZE. */
enum { CHUNK_VERTICES = 8 };

static uint32_t rounding(const struct pattern_view *view)
{
    return view->round ? view->round : LINE_BYTES / view->element;
}

static struct pattern_counter *counter_new(const struct pattern_view *view, struct err *err)
{
    return window_counter_new(view, rounding(view), CHUNK_VERTICES, err);
}

static int expand(const struct pattern_view *view, const struct scan *scans, size_t n, struct pattern_carry *carry,
                  struct coalescer *c, struct err *err)
{
    (void)carry;
    return window_expand(view, rounding(view), CHUNK_VERTICES, scans, n, c, err);
}

const struct zerocopy_pattern zerocopy_chunk = {
    .head = {.name = "chunk",
             .summary = "a warp for eight consecutive vertices, each list read as by aligned",
             .source = "EMOGI 382dbcc, bfs.cu (coalesce and chunk)"},
    .shapes = 1 << SCAN_LISTS,
    .defaults = {REUSE_NONE, REUSE_PREVWARP, REUSE_NONE},
    .counter_new = counter_new,
    .counter_free = window_counter_free,
    .count = window_count,
    .finish = window_finish,
    .expand = expand,
};
