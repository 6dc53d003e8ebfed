/* gather_rows: the rows that workload gather copies, in which order: a file's, drawn ones, or those that k-hop
 * neighbour sampling asks for, one batch after the other (trace/graph/graph_sample.h). */
#ifndef TRACE_WORKLOADS_ML_GATHER_ROWS_H
#define TRACE_WORKLOADS_ML_GATHER_ROWS_H

#include "trace/workloads/graph/graph_source.h"
#include "trace/workloads/ml/gather_program.h"
#include "trace/workloads/scan_record.h"

struct gather_params {
    int64_t row_bytes, count, table_rows, reuse, threads_per_block, blocks, kernel, compute_ns;
    const char *rows, *recorded;
    struct graph_source source; /* its seed is that of every draw */
    const char *fan_outs;
    int64_t seeds, batches, labels, accesses;
    double labelled_pct, inside;
    int64_t communities;
};

/* The state of the workload. */
struct gather {
    struct gather_params p;
    uint64_t *rows;
    size_t n, cap;
    double *recorded; /* accesses to each row; NULL: none */
    uint64_t table_rows, elements, at;
    struct graph graph; /* of neighbour sampling; empty otherwise */
    uint32_t *labelled;
    uint64_t labelled_count;
    uint64_t *ends; /* of each batch, in rows; NULL: one launch for all */
    uint64_t batches, batch;
    struct scan *scans;
    struct scan_writer writer;
    struct gather_program programs[2]; /* by enum gather_kernel */
};

/* Fill rows, n, table_rows and, where the keys ask for them, recorded, graph, labelled, ends and batches from g->p; all
 * else of them is zero before. -1 with *err set; what has been filled is the caller's to free in any case. */
int gather_rows_find(struct gather *g, struct err *err);

#endif
