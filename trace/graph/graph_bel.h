/* graph_bel: EMOGI's binary CSR, files NAME.bel.col (offsets), NAME.bel.dst (elements) and, if weighted, NAME.bel.val.
 *
 * Each file: u64 number of values, u64 placeholder (ignored), then the values, little-endian: u64 offsets (vertices + 1
 * of them, the first 0), u64 element ids, 4-byte weights. Named by the common prefix NAME.bel, or by one of the files.
 * Source: EMOGI 382dbcc, the loading code of its traversal programs. */
#ifndef TRACE_GRAPH_GRAPH_BEL_H
#define TRACE_GRAPH_GRAPH_BEL_H

#include "trace/graph/graph.h"

extern const struct graph_format graph_bel;

/* The two parts from open sources; for fuzzing. `weights` may be NULL. Each source is read to its end. */
struct source;
int graph_bel_parse(struct source *col, struct source *dst, struct source *val, struct graph *graph, struct err *err);

#endif
