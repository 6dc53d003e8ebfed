/* rodinia_btree: the state of rodinia-btree, with the way of each query. */
#ifndef TRACE_WORKLOADS_RODINIA_RODINIA_BTREE_H
#define TRACE_WORKLOADS_RODINIA_RODINIA_BTREE_H

#include "trace/program/plan.h"
#include "trace/workloads/rodinia/parts/btree_paths.h"

enum { BTREE_BOTH = 0, BTREE_RANGE = 1, BTREE_FIND = 2 };

struct btree_params {
    int64_t n, fan, queries, ranges, range, kernel, seed, order, compute_ns;
};

struct rodinia_btree {
    struct plan plan;
    struct btree_params p;
    struct btree_tree tree;
    struct btree_queries drawn;
    unsigned find_arrays; /* number of findK's first array */
};

#endif
