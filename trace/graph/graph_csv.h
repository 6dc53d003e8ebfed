/* graph_csv: edges in a table whose first line names the columns; separated by commas, semicolons, tabs or blanks.
 *
 * The ends of an edge are the columns called source and target (src and dst, from and to, u and v, node_1 and node_2,
 * :START_ID and :END_ID ...: graph_csv.c has the list; case, blanks and punctuation do not matter); of a table with two
 * columns of other names (not separated by blanks), the first and the second. A column called weight gives the weights
 * if all are whole 32-bit numbers, as in a Matrix Market file; other columns are passed over. Worked example:
 * "id,src,dst\n7,0,2\n" is the one edge 0 -> 2. */
#ifndef TRACE_GRAPH_GRAPH_CSV_H
#define TRACE_GRAPH_GRAPH_CSV_H

#include "trace/graph/graph.h"
#include "trace/import/source.h"

extern const struct graph_format graph_csv;

int graph_csv_parse(struct source *source, const struct graph_options *options, struct graph *graph, struct err *err);

#endif
