/* graph_mtx: Matrix Market coordinate files as graphs: entry (i, j) is an edge i -> j, ids from 1.
 *
 * Symmetric, skew-symmetric and hermitian files store one triangle: off-diagonal entries are mirrored (skew: the weight
 * negated), diagonal ones are not. Neighbour lists are sorted by id; equal entries stay. Values become weights where
 * all are whole and fit 32 bits; pattern files and other values give no weights. Array files are refused.
 * Source: R. F. Boisvert et al., The Matrix Market Exchange Formats, NISTIR 5935 (1996). */
#ifndef TRACE_GRAPH_GRAPH_MTX_H
#define TRACE_GRAPH_GRAPH_MTX_H

#include "trace/graph/graph.h"

extern const struct graph_format graph_mtx;

struct source;
int graph_mtx_parse(struct source *source, struct graph *graph, struct err *err);

#endif
