/* shift: rows gathered with the columns rotated so that warps start at a 128 B line (see lane.h).
 *
 * Differs: the rotation aligns a warp's reads only as far as the destination row starts at a multiple of 32 elements;
 * that is how the published kernel works too. */
#include "models/zerocopy/lane.h"

static struct pattern_counter *counter_new(const struct pattern_view *view, struct err *err)
{
    return row_counter_new(view, true, err);
}

static int expand(const struct pattern_view *view, const struct scan *scans, size_t n, struct pattern_carry *carry,
                  struct coalescer *c, struct err *err)
{
    return row_expand(view, true, scans, n, carry, c, err);
}

const struct zerocopy_pattern zerocopy_shift = {
    .head = {.name = "shift",
             .summary = "rows gathered with columns rotated so that warps start at a 128 B line",
             .source = "dissertation, section 3.3 (UnifiedTensor)"},
    .shapes = 1 << SCAN_ROWS,
    .default_reuse = {REUSE_NONE, REUSE_PREVWARP, REUSE_NONE},
    .counter_new = counter_new,
    .counter_free = row_counter_free,
    .count = row_count,
    .finish = row_finish,
    .expand = expand,
};
