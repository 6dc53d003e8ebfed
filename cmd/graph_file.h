/* graph_file: graphs on the command line; used by `graph` and `synth`. */
#ifndef CMD_GRAPH_FILE_H
#define CMD_GRAPH_FILE_H

#include <stdbool.h>

#include "trace/graph/graph.h"

/* Read `spec`: a graph file or prefix, or synth:WORKLOAD of a generator of graphs. from: a format's name, or NULL. */
int graph_file_read(const char *spec, const char *from, const struct graph_options *options, struct graph *graph,
                    struct err *err);

/* cmd_writes() of every file that graph_file_write() would make. */
int graph_file_writes(const char *path, const char *to, bool force);

/* Write to `path`, in the format named `to` or, if that is NULL, by the path's ending. An existing file is an error
 * unless force. */
int graph_file_write(const char *path, const char *to, bool force, const struct graph *graph, struct err *err);

#endif
