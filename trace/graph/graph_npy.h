/* graph_npy: graphs in arrays of NumPy, as SciPy, DGL, PyG, GraphSAINT and OGB keep them; format npy.
 *
 * A file NAME.npy of ids 2 x E (sources, then targets: PyG's edge_index) or E x 2 (a pair for each edge); or two files
 * beside each other of which one is named: ..indptr.npy with ..indices.npy (CSR), ..row.npy with ..col.npy, ..src.npy
 * with ..dst.npy; their common beginning names them too.
 * graph_npz, format npz: an archive with such arrays as members: indptr, indices [, data, shape, format] (SciPy's CSR
 * and CSC, DGL, GraphSAINT, also with a beginning such as adj_), row, col [, data, shape, format], src, dst, or one of
 * edge_index, edges, edge_list, arr_0.
 * Worked example: [[0, 0, 2], [1, 2, 0]] is 0 -> 1, 0 -> 2, 2 -> 0; so are indptr [0, 2, 2, 3], indices [1, 2, 0].
 * Weights (data) are kept if all are whole 32-bit numbers. Ids of edges may be mirrored (--undirected) and relabelled.
 * Refused: ids that are not whole numbers from 0; 2 x 2 (it can be both); arrays that do not fit each other. */
#ifndef TRACE_GRAPH_GRAPH_NPY_H
#define TRACE_GRAPH_GRAPH_NPY_H

#include "trace/graph/graph.h"

extern const struct graph_format graph_npy;
extern const struct graph_format graph_npz;

#endif
