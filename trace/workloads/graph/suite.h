/* suite: traversals and generated graphs. */
#ifndef TRACE_WORKLOADS_GRAPH_SUITE_H
#define TRACE_WORKLOADS_GRAPH_SUITE_H

#include "trace/workloads/workload.h"

extern const struct workload_type workload_bfs, workload_cc, workload_sssp, workload_pagerank, workload_expect,
    workload_kron, workload_urand, workload_fs, workload_ml, workload_sk, workload_uk5;

#endif
