/* csr_arrays: graphs whose arrays are known by name: offsets and ids (CSR, CSC), sources and targets, or pairs. */
#ifndef TRACE_GRAPH_CSR_ARRAYS_H
#define TRACE_GRAPH_CSR_ARRAYS_H

#include "trace/graph/coo.h"

struct csr_arrays {
    struct npy_place indptr, indices, data; /* data.path NULL: no weights */
    uint64_t shape[2];                      /* rows, columns; 0: not said */
};

/* Row v's targets are indices[indptr[v]] up to indices[indptr[v + 1]]. */
int csr_arrays_read(const struct csr_arrays *arrays, struct graph *graph, struct err *err);

/* Column v's sources are. */
int csr_arrays_columns(const struct csr_arrays *arrays, const struct graph_options *options, struct graph *graph,
                       struct err *err);

/* Sources coo->from, targets coo->to, 1-dimensional and of one length; weights and vertices as in struct coo. */
int csr_arrays_ends(struct coo *coo, const struct graph_options *options, struct graph *graph, struct err *err);

/* One array, 2 x E or E x 2. */
int csr_arrays_edges(const struct npy_place *place, const struct graph_options *options, struct graph *graph,
                     struct err *err);

#endif
