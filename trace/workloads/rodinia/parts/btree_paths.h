/* btree_paths: a complete tree of keys, and the way of each query through it.
 *
 * Keys 0 to n - 1 in leaves of `fan`, leaves and nodes in nodes of `fan`; the last of a level holds what is left.
 * Nodes are numbered level by level from the root on. A node's slot 0 stands for what lies below its first key, so
 * child i is slot i and key i of a leaf slot i + 1; record i is key i's.
 * Worked example: n = 100, fan = 4: levels of 1, 2, 7 and 25 nodes, height 3; key 37: root slot 0, node 1 slot 2,
 * node 5 slot 1, node 19 (leaf 9) slot 2.
 * Queries are drawn as main() does: keys among n; of a range the first key, and the one so many behind, or where that
 * lies behind the last key, as many before and the last.
 * Source: Rodinia 3.1, cuda/b+tree/main.c transform_to_cuda (slots, numbering).
 * Differs: the tree of the file mil.txt grows by insertion; its nodes are half full to full. */
#ifndef TRACE_WORKLOADS_RODINIA_PARTS_BTREE_PATHS_H
#define TRACE_WORKLOADS_RODINIA_PARTS_BTREE_PATHS_H

#include <stdint.h>

#include "trace/base/err.h"

enum { BTREE_LEVELS = 28 }; /* at most */

struct btree_path {
    uint32_t node[BTREE_LEVELS];
    uint16_t slot[BTREE_LEVELS]; /* that the key lies behind; in a leaf: of the key */
    uint32_t record;
};

struct btree_tree {
    uint32_t n, fan, height;          /* height: edges from the root to a leaf */
    uint32_t first[BTREE_LEVELS + 1]; /* node of each level; behind the leaves: all nodes */
};

/* n >= 1 keys, fan >= 2; at most 2^32 nodes. */
void btree_tree(struct btree_tree *tree, uint32_t n, uint32_t fan);

/* Of each range its two ends, of each key. */
struct btree_queries {
    struct btree_path *start, *end, *find;
};

struct btree_path btree_path(const struct btree_tree *tree, uint32_t key);

/* range: keys from a range's first to its last. Released even on failure. */
int btree_queries_draw(struct btree_queries *queries, const struct btree_tree *tree, uint64_t seed, uint64_t ranges,
                       uint64_t range, uint64_t keys, struct err *err);
void btree_queries_release(struct btree_queries *queries);

#endif
