/* range_map: finds the row (a kernel, an allocation) whose stretch of time or address space holds a point, and tells
 * points in several rows from points in none.
 *
 * Use: range_map_add() in any order, range_map_build(), then range_map_find(); range_map_release(). A point lies in
 * [lo, hi). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

enum { RANGE_MAP_NONE = -1, RANGE_MAP_SEVERAL = -2 };

struct range_map {
    struct range {
        int64_t lo, hi;
        int64_t row;
    } * items; /* as added; after range_map_build() disjoint and ascending, row may be RANGE_MAP_SEVERAL */
    size_t count, cap;
};

void range_map_release(struct range_map *ranges);

/* row >= 0. Empty stretches are passed over. */
int range_map_add(struct range_map *ranges, int64_t lo, int64_t hi, int64_t row, struct err *err);
int range_map_build(struct range_map *ranges, struct err *err);

/* The row, RANGE_MAP_NONE or RANGE_MAP_SEVERAL (rows that differ). */
int64_t range_map_find(const struct range_map *ranges, int64_t point);
