/* row_cache: which lookups of rows a cache in GPU memory serves, for caches of every size in one pass.
 *
 * Each lookup has a depth: a cache of C rows has the row if depth < C. So a curve over all sizes is a count of depths.
 *
 * lru: the row least recently asked for is evicted. The depth is the number of other rows asked for since the row's
 * last lookup, counted on a timeline by words of bits with sums of words, of 32 words and of 1,024. A full timeline is
 * compacted. lfu: rows are ordered by how often they were asked for, and a cache holds the first C. A row asked for
 * again changes places with the first of those asked for as often; the depth is its place. So a full cache takes a row
 * only when it is asked for more often than one it holds, and counts outlive eviction. counted: rows by how often all
 * lookups ask for them, most first; copied once, before the first. Worked example, rows a b a c b a: lru depths - - 1 -
 * 2 2, lfu - - 0 - 1 0, counted 0 1 0 2 1 0 (-: not held by any). Source: Mattson et al., Evaluation techniques for
 * storage hierarchies, IBM Systems Journal 1970 (one pass for all sizes of an inclusive cache). Differs: lookups of one
 * launch follow each other; the cost of a cache's tables is not included. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

enum row_cache { ROW_CACHE_LRU, ROW_CACHE_LFU, ROW_CACHE_COUNTED };

#define ROW_CACHE_NEVER UINT32_MAX

/* Depth of each of n < 2^32 - 1 lookups; ROW_CACHE_NEVER: no cache has the row. */
int row_cache_depths(enum row_cache cache, const uint64_t *rows, size_t n, uint32_t *depths, struct err *err);

/* Numbers 0, 1, 2 .. for the rows in the order in which they first come; *distinct gets how many there are. */
int row_cache_number(const uint64_t *rows, size_t n, uint32_t *numbers, uint32_t *distinct, struct err *err);

/* The same of rows numbered so; in place: depths may be the numbers. */
int row_cache_numbered(enum row_cache cache, const uint32_t *numbers, size_t n, uint32_t distinct, uint32_t *depths,
                       struct err *err);

/* By c from 0 to *distinct: lookups that a cache of c rows serves; freed with free(). NULL with *err set. */
uint64_t *row_cache_curve(enum row_cache cache, const uint64_t *rows, size_t n, uint32_t *distinct, struct err *err);

/* The size from 0 to most whose hits lie highest above the line from those of no cache to those of the largest: beyond
 * it a row more saves less than the rows did on average. */
uint32_t row_cache_knee(const uint64_t *hits, uint32_t most);
