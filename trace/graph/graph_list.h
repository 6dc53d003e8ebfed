/* graph_list: edges that a text names one by one, with what --undirected and --relabel make of them.
 *
 *     struct graph_list list = {.options = options};
 *     graph_list_edge(&list, u, v, weighted, w, &err) ...
 *     graph_list_finish(&list, &graph, &err);
 *     graph_list_release(&list);                             (always) */
#ifndef TRACE_GRAPH_GRAPH_LIST_H
#define TRACE_GRAPH_GRAPH_LIST_H

#include "trace/base/dense.h"
#include "trace/graph/graph_build.h"

struct graph_list {
    const struct graph_options *options;
    struct dense labels; /* relabel: vertices by first appearance */
    struct graph_builder builder;
    uint64_t vertices; /* largest id + 1, without relabelling */
};

/* weighted must be the same for every edge. Ids from 2^32 - 2 on are an error unless relabelled. */
int graph_list_edge(struct graph_list *list, uint64_t from, uint64_t to, bool weighted, int32_t weight,
                    struct err *err);

/* The graph; lists keep the order of addition. An error where the ids are too far apart to be all of them vertices. */
int graph_list_finish(struct graph_list *list, struct graph *graph, struct err *err);
void graph_list_release(struct graph_list *list);

/* The last of these checks for other readers: 8 bytes are kept for each vertex, whether it has edges or not. */
int graph_list_check(uint64_t vertices, uint64_t edges, struct err *err);
/* The same where a file says how many rows or columns its matrix has. */
int graph_list_sides(uint64_t vertices, uint64_t entries, struct err *err);

#endif
