/* sorted: comparators for qsort() and bsearch() of rows that begin with a number, and binary search. */
#ifndef TRACE_BASE_SORTED_H
#define TRACE_BASE_SORTED_H

#include <stddef.h>
#include <stdint.h>

static inline int sorted_by_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline int sorted_by_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static inline int sorted_by_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Moves `at` to the first index i in [at, n) for which `before`, an expression of i, is false; to n if there is none.
 * `before` is true up to some index and false from there on. */
#define SORTED_FIRST(at, n, i, before)                                                                                 \
    for (size_t i, end_of_##i = (n); (at) < end_of_##i;)                                                               \
        if (i = (at) + (end_of_##i - (at)) / 2, (before))                                                              \
            (at) = i + 1;                                                                                              \
        else                                                                                                           \
            end_of_##i = i

#endif
