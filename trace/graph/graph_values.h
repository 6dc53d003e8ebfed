/* graph_values: arrays of little-endian values in binary graph files, read so that memory follows what the file really
 * holds, never what its header claims. */
#ifndef TRACE_GRAPH_GRAPH_VALUES_H
#define TRACE_GRAPH_GRAPH_VALUES_H

#include <stdio.h>

#include "trace/graph/graph.h"
#include "trace/import/source.h"

/* Exactly n bytes into buf; `what` and the byte offset stand in the message if the input ends early. */
int graph_read_bytes(struct source *source, void *buf, size_t n, const char *what, struct err *err);

/* One u64. */
int graph_read_u64(struct source *source, uint64_t *value, const char *what, struct err *err);

/* n u64 values into a new array *values. */
int graph_read_offsets(struct source *source, uint64_t n, uint64_t **values, const char *what, struct err *err);

/* n ids of `width` (4 or 8) bytes, every `stride` bytes (a 4-byte weight follows each id where stride is width + 4),
 * into graph->targets, or graph->wide if graph->vertices exceeds 2^32; weights into graph->weights. Ids are checked
 * against graph->vertices. */
int graph_read_targets(struct source *source, uint64_t n, int width, bool weighted, struct graph *graph,
                       struct err *err);

/* An error unless the input ends here. */
int graph_read_end(struct source *source, struct err *err);

/* Write n values, all or nothing; *err names path. */
int graph_write_bytes(FILE *file, const char *path, const void *data, size_t n, struct err *err);

#endif
