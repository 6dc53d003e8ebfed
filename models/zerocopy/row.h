/* row: rows of a table gathered into a dense output by a kernel whose thread i copies element i of the output; shared
 * by naive and shift.
 *
 * Element i is column i mod F of row i div F of the output (F elements a row). A warp copies 32 consecutive elements,
 * so it may read the end of one row and the start of another. With `shift` the column read and written is rotated by
 * (destination start - source start) mod 32 inside the row, if F > 32 and F mod 32 != 0.
 * Worked example: 480 B rows of 4-byte elements, row 1 into output row 0: 8 requests straight, 5 shifted.
 * Source: dissertation, section 3.3 (UnifiedTensor's aligned gather); checked against exact counts for 42 row sizes. */
#ifndef MODELS_ZEROCOPY_ROW_H
#define MODELS_ZEROCOPY_ROW_H

#include "models/zerocopy/pattern.h"

/* As zerocopy_pattern.expand. */
int row_expand(const struct pattern_view *view, bool shift, const struct scan *scans, size_t n,
               struct pattern_carry *carry, struct coalescer *c, struct err *err) PLUGIN_API(row_expand);

/* A counter that expands rows into a coalescer. */
struct pattern_counter *row_counter_new(const struct pattern_view *view, bool shift, struct err *err)
    PLUGIN_API(row_counter_new);
void row_counter_free(struct pattern_counter *counter) PLUGIN_API(row_counter_free);
int row_count(struct pattern_counter *counter, const struct scan *scans, size_t n, struct err *err)
    PLUGIN_API(row_count);
int row_finish(struct pattern_counter *counter, struct pattern_count *count, struct err *err) PLUGIN_API(row_finish);

#endif
