/* spans: stretches of time or of address space, each belonging to a row (a kernel, an allocation), and the row that
 * holds a point; points in several rows are told apart from those in none.
 *
 * Use: spans_add() in any order, spans_build(), then spans_find(); spans_release(). A point lies in [lo, hi). */
#ifndef TRACE_SPANS_H
#define TRACE_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/err.h"

enum { SPANS_NONE = -1, SPANS_SEVERAL = -2 };

struct spans {
    struct span {
        int64_t lo, hi;
        int64_t row;
    } * items; /* as added; after spans_build() disjoint and ascending, row may be SPANS_SEVERAL */
    size_t count, cap;
};

void spans_release(struct spans *spans);

/* row >= 0. Empty stretches are passed over. */
int spans_add(struct spans *spans, int64_t lo, int64_t hi, int64_t row, struct err *err);
int spans_build(struct spans *spans, struct err *err);

/* The row, SPANS_NONE or SPANS_SEVERAL (rows that differ). */
int64_t spans_find(const struct spans *spans, int64_t point);

#endif
