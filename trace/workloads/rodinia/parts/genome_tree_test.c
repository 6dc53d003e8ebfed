#include "trace/workloads/rodinia/parts/genome_tree.h"

#include <string.h>

#include "trace/base/testing.h"

/* The leaves below a node in order, each the suffix it should be. */
static void check_leaves(const struct genome_tree *t, uint32_t v, uint32_t *seen)
{
    const struct genome_node *n = &t->node[v];
    uint32_t children = 0;
    for (unsigned c = 0; c < GENOME_CHILDREN; c++) {
        uint32_t child = n->child[c];
        if (!child)
            continue;
        children++;
        ck_assert_uint_eq(t->node[child].parent, v);
        ck_assert_uint_gt(t->node[child].depth, n->depth);
        ck_assert_uint_gt(child, v); /* breadth first */
        ck_assert_uint_eq(t->text[t->node[child].at + n->depth], c);
        ck_assert_int_eq(memcmp(&t->text[t->node[child].at], &t->text[n->at], n->depth), 0);
        ck_assert_uint_ge(t->node[child].at, n->at); /* the first place */
        check_leaves(t, child, seen);
    }
    ck_assert_msg(children != 1 || t->bases == 0, "a node with one child");
    if (!children) {
        ck_assert_uint_eq(n->at + n->depth, t->bases + 1);
        ++*seen;
    }
}

static void check(uint32_t bases, uint64_t seed)
{
    struct genome_tree t;
    struct err err = {""};
    uint32_t leaves = 0;
    ck_assert_int_eq(genome_tree_init(&t, bases, seed, &err), 0);
    check_leaves(&t, GENOME_ROOT, &leaves);
    ck_assert_uint_eq(leaves, bases + 1);
    for (uint32_t v = GENOME_ROOT; v <= t.nodes; v++) {
        if (!t.node[v].child[0] && !t.node[v].child[1] && !t.node[v].child[2] && !t.node[v].child[3])
            continue;
        uint32_t s = genome_tree_suffix(&t, v), depth = t.node[v].depth ? t.node[v].depth - 1 : 0;
        ck_assert_uint_eq(t.node[s].depth, depth);
        ck_assert_int_eq(memcmp(&t.text[t.node[s].at], &t.text[t.node[v].at + (t.node[v].depth > 0)], depth), 0);
    }
    genome_tree_release(&t);
}

START_TEST(every_suffix_has_a_leaf_and_every_inner_node_a_suffix)
{
    for (uint32_t bases = 1; bases < 60; bases++)
        check(bases, bases);
    check(5000, 1);
    check(100000, 2);
}
END_TEST

/* Strings of log4(n) bases occur about once: most inner nodes lie there. */
START_TEST(a_random_genome_branches_at_the_depth_of_its_logarithm)
{
    struct genome_tree t;
    struct err err = {""};
    double depth = 0, inner = 0;
    ck_assert_int_eq(genome_tree_init(&t, 1 << 18, 5, &err), 0);
    for (uint32_t v = GENOME_ROOT; v <= t.nodes; v++)
        if (t.node[v].at + t.node[v].depth <= t.bases) {
            depth += t.node[v].depth;
            inner++;
        }
    ck_assert_double_gt(depth / inner, 8); /* log4(2^18) = 9 */
    ck_assert_double_lt(depth / inner, 10);
    genome_tree_release(&t);
}
END_TEST

TEST_MAIN("genome_tree", every_suffix_has_a_leaf_and_every_inner_node_a_suffix,
          a_random_genome_branches_at_the_depth_of_its_logarithm)
