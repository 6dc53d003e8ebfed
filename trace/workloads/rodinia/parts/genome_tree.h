/* genome_tree: a random genome and the suffix tree of it, for rodinia-mummergpu.
 *
 * Bases 0 to 3 (A, C, G, T), drawn evenly, and 4 behind the last, which ends every suffix. A node stands for the
 * string from the root to it: `depth` characters from text[at] on, its first place; its edge begins behind the
 * parent's. Nodes are numbered breadth-first from 1 (the root) on, children in the order A, C, G, T, end.
 * Suffixes are sorted by their first 32 bases at once, then compared where those are equal; the tree follows from the
 * order and the common lengths of neighbours.
 * Worked example: "AA" and its end: the root has the edges "A" (2) and end (3), node 2 has "A" and end (4) and end
 * (5).
 * Source: Rodinia 3.1, cuda/mummergpu/src/suffix-tree.cpp (numbering: renumberTree; children; id2addr).
 * Differs: below level 16 Rodinia numbers five generations at a time; a genome has repeats, drawn bases have none. */
#ifndef TRACE_WORKLOADS_RODINIA_PARTS_GENOME_TREE_H
#define TRACE_WORKLOADS_RODINIA_PARTS_GENOME_TREE_H

#include <stdint.h>

#include "trace/base/err.h"

enum { GENOME_BASES = 4, GENOME_END = 4, GENOME_CHILDREN = 5, GENOME_NONE = 0, GENOME_ROOT = 1 };

struct genome_node {
    uint32_t child[GENOME_CHILDREN]; /* numbers; GENOME_NONE: no such edge */
    uint32_t at, depth, parent;
};

struct genome_tree {
    uint32_t bases, nodes; /* nodes: node[1] to node[nodes] */
    uint8_t *text;         /* bases + 1 */
    struct genome_node *node;
};

/* bases: 1 to 2^28. Released with genome_tree_release(), whatever is returned. */
int genome_tree_init(struct genome_tree *tree, uint32_t bases, uint64_t seed, struct err *err);
void genome_tree_release(struct genome_tree *tree);

/* The inner node for the string of an inner node without its first character; the root's is the root. */
uint32_t genome_tree_suffix(const struct genome_tree *tree, uint32_t node);

#endif
