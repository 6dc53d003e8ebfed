/* graph_metis: undirected graphs in METIS's text form (.graph), also that of KaHIP, Chaco and the DIMACS 10 challenge.
 *
 * First line: vertices edges [fmt [ncon]]; then a line for each vertex, in order from 1, with its neighbours. fmt has
 * up to three digits, 0 or 1: vertex sizes, vertex weights (ncon of them, else one), edge weights; a line begins with
 * the vertex's size and weights, and each neighbour is followed by the edge's weight. Lines that start with % are
 * comments; an empty line is a vertex without neighbours. Every edge stands in the lists of both its ends.
 * Worked example: "3 2 1\n2 5\n1 5 3 7\n2 7\n" is 1 -(5)- 2 -(7)- 3: 4 elements with the weights 5, 5, 7, 7.
 * Source: METIS 5.1.0 manual, section 4.1.1. */
#ifndef TRACE_GRAPH_GRAPH_METIS_H
#define TRACE_GRAPH_GRAPH_METIS_H

#include "trace/graph/graph.h"
#include "trace/import/source.h"

extern const struct graph_format graph_metis;

/* Memory follows the lines read, not the header. Errors name the line: numbers that are no neighbour, a vertex that
 * names itself, more or fewer vertices or edges than the header says, an edge that one of its ends does not list. */
int graph_metis_parse(struct source *source, struct graph *graph, struct err *err);

#endif
