/* window: neighbour lists read by whole warps, counted in closed form; shared by merged, aligned and chunk.
 *
 * A warp reads a list in windows of 32 elements, a whole number of lines. All windows but the first start at the same
 * place in their lines. What one requests depends only on that place (its phase, (address mod 128) / element size) and
 * on its active lanes. So a list adds 1 to the count of its first window's kind, `full` to that of full windows and 1
 * to that of the last. Each kind's requests are worked out once, at the end of a launch. Rounding (aligned) starts the
 * first window at the start of its line, with lanes below the list masked off. Elements of 1 and 2 bytes, of which 32
 * are less than a line, go through the coalescer one by one. Worked example: 8-byte elements, list of 40 from byte 48
 * on, merged: window 1 is bytes 48 to 303 (96 + 128 + 64 B), window 2 bytes 304 to 367 (sectors 9, 10, 11: one request
 * of 96 B). reuse=warp: only the first of two windows requests the sector that they share. reuse=l1 is defined for
 * arrays only, whose windows are all under way at once: both warps request it. Measured: H200, driver 580.159.04,
 * 2026-11: 512 MiB of 4-byte elements from 36 to 60 B behind a line's start are read at 33.7 to 36.7 GB/s; requested by
 * both at 36.2, once at 42.9. Source: derived from warp.h, compared with its coalescer. */
#pragma once

#include "models/zerocopy/pattern.h"

/* round: elements to round the first index down to, 0 for none; lists_per_warp: consecutive lanes of one warp. */
struct pattern_counter *window_counter_new(const struct pattern_view *view, uint32_t round, uint64_t lists_per_warp,
                                           struct err *err) PLUGIN_API(window_counter_new);
void window_counter_free(struct pattern_counter *counter) PLUGIN_API(window_counter_free);
int window_count(struct pattern_counter *counter, const struct scan *scans, size_t n, struct err *err)
    PLUGIN_API(window_count);
int window_finish(struct pattern_counter *counter, struct pattern_count *count, struct err *err)
    PLUGIN_API(window_finish);

/* The exact loads, for any reuse rule but l1. */
int window_expand(const struct pattern_view *view, uint32_t round, uint64_t lists_per_warp, const struct scan *scans,
                  size_t n, struct coalescer *c, struct err *err) PLUGIN_API(window_expand);

/* To a whole line: the view's own, or as many elements as one holds. */
static inline uint32_t window_line(const struct pattern_view *view)
{
    return view->round ? view->round : LINE_BYTES / view->element;
}

/* The hooks counter_new() and expand() of a pattern; `round` may name the `view`. */
#define WINDOW_HOOKS(round, lists_per_warp)                                                                            \
    static struct pattern_counter *counter_new(const struct pattern_view *view, struct err *err)                       \
    {                                                                                                                  \
        return window_counter_new(view, round, lists_per_warp, err);                                                   \
    }                                                                                                                  \
    static int expand(const struct pattern_view *view, const struct scan *scans, size_t n,                             \
                      struct pattern_carry *carry, struct coalescer *c, struct err *err)                               \
    {                                                                                                                  \
        (void)carry;                                                                                                   \
        return window_expand(view, round, lists_per_warp, scans, n, c, err);                                           \
    }

/* All hooks of such a pattern. */
#define WINDOW_COUNTER                                                                                                 \
    .counter_new = counter_new, .counter_free = window_counter_free, .count = window_count, .finish = window_finish,   \
    .expand = expand
