/* sorted: sorting and finding in arrays that may be empty, comparators of rows that begin with a number, and binary
 * search. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* qsort() and bsearch() of C allow no null pointer, which an array without items often is. */
static inline void sort_items(void *items, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n > 1)
        qsort(items, n, size, compare);
}

static inline void *sort_find(const void *key, const void *items, size_t n, size_t size,
                              int (*compare)(const void *, const void *))
{
    return n ? bsearch(key, items, n, size, compare) : NULL;
}

/* The first of the things that an array of pointers, ended by NULL, holds whose `name` is that, or NULL. */
#define FIND_NAMED(list, wanted)                                                                                       \
    ({                                                                                                                 \
        size_t at_ = 0;                                                                                                \
        while ((list)[at_] && strcmp((list)[at_]->name, (wanted)) != 0)                                                \
            at_++;                                                                                                     \
        (list)[at_];                                                                                                   \
    })

/* -1, 0 or 1, as comparators return it; of two keys ORDER_OF(a, b) ?: ORDER_OF(c, d). */
#define ORDER_OF(a, b) (((a) > (b)) - ((a) < (b)))

#define SORTED_BY(name, type)                                                                                          \
    static inline int name(const void *a, const void *b)                                                               \
    {                                                                                                                  \
        return ORDER_OF(*(const type *)a, *(const type *)b);                                                           \
    }
SORTED_BY(sorted_by_u32, uint32_t)
SORTED_BY(sorted_by_u64, uint64_t)
SORTED_BY(sorted_by_i64, int64_t)
SORTED_BY(sorted_by_f64, double)

/* Defines the comparator `name` of rows of a type: `order` is an expression of two, x and y, as ORDER_OF() gives it. */
#define SORTED_AS(name, type, order)                                                                                   \
    static int name(const void *x_, const void *y_)                                                                    \
    {                                                                                                                  \
        const type *x = x_, *y = y_;                                                                                   \
        return order;                                                                                                  \
    }

/* Moves `at` to the first index i in [at, n) for which `before`, an expression of i, is false; to n if there is none.
 * `before` is true up to some index and false from there on. */
#define SORTED_FIRST(at, n, i, before)                                                                                 \
    for (size_t i, end_of_##i = (n); (at) < end_of_##i;)                                                               \
        if (i = (at) + (end_of_##i - (at)) / 2, (before))                                                              \
            (at) = i + 1;                                                                                              \
        else                                                                                                           \
            end_of_##i = i
