/* coo: edges in arrays of sources and targets, one for each edge, into lists; read twice, so that beside the graph
 * itself (4 bytes an element, 8 a vertex, 4 an element with weights) nothing is kept that grows with it.
 *
 * First the elements of every vertex are counted, then they are put where they belong: lists keep the arrays' order. */
#ifndef TRACE_GRAPH_COO_H
#define TRACE_GRAPH_COO_H

#include "trace/graph/graph.h"
#include "trace/graph/npy.h"

enum coo_form {
    COO_PAIRS,   /* `from` holds source, target, source, target ... */
    COO_ARRAYS,  /* `from` holds the sources after skip_from items, `to` the targets after skip_to */
    COO_COLUMNS, /* `from` holds the sources of the edges to column 0, 1 ..., of which offsets[] says where they begin
                  */
};

struct coo {
    enum coo_form form;
    struct npy_place from, to, weights; /* weights.path NULL: none */
    uint64_t skip_from, skip_to;
    const uint64_t *offsets; /* COO_COLUMNS: columns + 1 values, checked */
    uint64_t edges;
    uint64_t vertices; /* known from elsewhere; 0: the largest id + 1 */
};

/* Weights are kept if all are whole 32-bit numbers. */
int coo_read(const struct coo *coo, const struct graph_options *options, struct graph *graph, struct err *err);

/* `count` weights of an array of as many into graph->weights, which stays NULL if they are not such. */
int coo_weights(const struct npy_place *place, uint64_t count, struct graph *graph, struct err *err);

#endif
