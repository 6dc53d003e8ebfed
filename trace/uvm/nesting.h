/* nesting: the ranges that a program named itself (NVTX), and which of them is the innermost at each moment.
 *
 * On one thread ranges nest: the one that began last and is still open is the innermost (of those that began together,
 * the one that ends first). Ranges with a beginning and an end of their own need not nest; the same holds of them.
 * Times are the processor's: what a range launched and did not wait for runs after it. */
#ifndef TRACE_UVM_NESTING_H
#define TRACE_UVM_NESTING_H

#include "trace/base/range_map.h"
#include "trace/store/store.h"

/* Zeroed to start. */
struct nesting {
    struct nesting_range {
        int64_t start, end; /* ns; end > start */
        uint64_t row;       /* whose it is: as read, its name's row of table strings */
        uint32_t thread;
    } * items;
    size_t count, cap;
    struct nesting_name *names; /* by row */
};

/* Take the ranges of all streams in ns; marks, which take no time, are passed over. */
int nesting_read(struct nesting *nesting, struct store *store, struct err *err);
void nesting_release(struct nesting *nesting);

/* The name in that row of table strings, "" if there is none; of a row that some range was read with. */
const char *nesting_name(const struct nesting *nesting, uint64_t row);

/* Add to *map, for each thread by itself, at which times which row is the innermost; rows are below 2^63. Changes the
 * order of the items. */
int nesting_innermost(struct nesting *nesting, struct range_map *map, struct err *err);

#endif
