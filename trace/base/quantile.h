/* quantile: order statistics of many times in bounded memory.
 *
 * Values are counted in buckets of width one below 2^22 (4.19 ms in ns), and above that in 4,096 buckets per factor of
 * two. Results are exact below, and at most one part in 4,096 low above; smallest and largest are exact. It maps 35 MB
 * but touches only used buckets. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

struct quantile;

struct quantile *quantile_new(struct err *err);
void quantile_free(struct quantile *q); /* NULL is allowed */

/* Count one value, >= 0. */
void quantile_add(struct quantile *q, int64_t value);

uint64_t quantile_count(const struct quantile *q);

/* The smallest value that `share` of all are at or below, 0 <= share <= 1: share 0.5 is the lower median. count must
 * not be 0. */
int64_t quantile_at(const struct quantile *q, double share);

/* Call fn for every bucket that was hit, in ascending order, with its value and the count at or below it. */
void quantile_walk(const struct quantile *q, void (*fn)(void *ctx, int64_t value, uint64_t at_or_below), void *ctx);

/* Of few values, n > 0, between the two neighbours: quartiles of 1, 2, 3, 4 are 1.75 and 3.25. */
double quantile_between(const double *sorted, size_t n, double share);
