/* graph_labels: a file of labelled vertices, from which training starts. */
#ifndef TRACE_GRAPH_GRAPH_LABELS_H
#define TRACE_GRAPH_GRAPH_LABELS_H

#include <stdint.h>

#include "trace/base/err.h"
#include "trace/import/source.h"

/* Vertex numbers, one a line; empty lines and lines that start with # are skipped. Numbers must be below `vertices`
 * (at most 2^32 - 1) and stand once. At least one is needed. *labelled gets them in file order, freed with free(); on
 * failure it is NULL and *err names the line. The source stays the caller's. */
int graph_labels_read(struct source *source, uint64_t vertices, uint32_t **labelled, uint64_t *count, struct err *err);

#endif
