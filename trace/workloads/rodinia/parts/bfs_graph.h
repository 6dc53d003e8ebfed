/* bfs_graph: the graph that rodinia-bfs goes over, and in which level it reaches each node.
 *
 * random: as Rodinia's generator: each node in turn draws 2, 3 or 4 partners among all nodes, and both directions are
 * added to the lists of the two; lists in the order of drawing. ring: node i and its neighbours i-1, i+1.
 * Worked example: a ring of 4 from node 0: levels 0, 1, 2, 1.
 * Source: Rodinia 3.1, data/bfs/inputGen/graphgen.cpp: 2 to 4 edges drawn a node.
 * Differs: another random generator, so not the graph of the file graph1MW_6.txt, only of its kind. */
#ifndef TRACE_WORKLOADS_RODINIA_PARTS_BFS_GRAPH_H
#define TRACE_WORKLOADS_RODINIA_PARTS_BFS_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

struct bfs_graph {
    uint32_t nodes, levels; /* levels: 1 + the highest */
    uint32_t *start;        /* nodes + 1: of the list of each */
    uint32_t *edges;
    uint32_t *level; /* from node 0; UINT32_MAX: never reached */
};

/* nodes: 1 to 2^26. Released with bfs_graph_release(), whatever is returned. */
int bfs_graph_init(struct bfs_graph *graph, uint32_t nodes, bool ring, uint64_t seed, struct err *err);
void bfs_graph_release(struct bfs_graph *graph);

#endif
