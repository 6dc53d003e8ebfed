/* graph_el: edge lists, one edge `source target` (or `source target weight`) a line, ids from 0.
 *
 * Lines that start with '#' or '%' are comments; fields are split at blanks, commas or semicolons; CRLF is accepted.
 * SNAP and KONECT files are of this form: --relabel numbers ids with holes by first appearance, --undirected stores
 * both directions of every line. Neighbour lists keep the order of the file; columns after the third are ignored.
 * Source: gapbs b5e3e19 (.el, .wel); SNAP's text files. */
#ifndef TRACE_GRAPH_GRAPH_EL_H
#define TRACE_GRAPH_GRAPH_EL_H

#include "trace/graph/graph.h"

extern const struct graph_format graph_el, graph_wel;

struct source;
int graph_el_parse(struct source *source, bool weighted, const struct graph_options *options, struct graph *graph,
                   struct err *err);

#endif
