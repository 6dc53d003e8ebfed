/* What the program draws or lists when it is opened: its own functions, by including it. */
#include "trace/workloads/rodinia/rodinia_mummergpu.c"

#include "trace/base/testing.h"

/* --- the tree --- */

/* The leaves below a node in order, each the suffix it should be. */
static void check_leaves(const struct tree *t, uint32_t bases, uint32_t v, uint32_t *seen)
{
    const struct node *n = &t->node[v];
    uint32_t children = 0;
    for (unsigned c = 0; c < CHILDREN; c++) {
        uint32_t child = n->child[c];
        if (!child)
            continue;
        children++;
        ck_assert_uint_eq(t->node[child].up, v);
        ck_assert_uint_gt(t->node[child].depth, n->depth);
        ck_assert_uint_gt(child, v); /* breadth first */
        ck_assert_uint_eq(t->text[t->node[child].at + n->depth], c);
        ck_assert_int_eq(memcmp(&t->text[t->node[child].at], &t->text[n->at], n->depth), 0);
        ck_assert_uint_ge(t->node[child].at, n->at); /* the first place */
        check_leaves(t, bases, child, seen);
    }
    ck_assert_msg(children != 1 || bases == 0, "a node with one child");
    if (!children) {
        ck_assert_uint_eq(n->at + n->depth, bases + 1);
        ++*seen;
    }
}

static void check(uint32_t bases, uint64_t seed)
{
    struct tree t = {0};
    uint32_t leaves = 0;
    WORKS(tree_init(&t, bases, seed, &err));
    check_leaves(&t, bases, ROOT, &leaves);
    ck_assert_uint_eq(leaves, bases + 1);
    for (uint32_t v = ROOT; v <= t.nodes; v++) {
        if (!t.node[v].child[0] && !t.node[v].child[1] && !t.node[v].child[2] && !t.node[v].child[3])
            continue;
        uint32_t s = suffix(&t, v), depth = t.node[v].depth ? t.node[v].depth - 1 : 0;
        ck_assert_uint_eq(t.node[s].depth, depth);
        ck_assert_int_eq(memcmp(&t.text[t.node[s].at], &t.text[t.node[v].at + (t.node[v].depth > 0)], depth), 0);
    }
    free(t.node);
    free(t.text);
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
    struct tree t = {0};
    double depth = 0, inner = 0;
    WORKS(tree_init(&t, 1 << 18, 5, &err));
    for (uint32_t v = ROOT; v <= t.nodes; v++)
        if (t.node[v].at + t.node[v].depth <= 1 << 18) {
            depth += t.node[v].depth;
            inner++;
        }
    ck_assert_double_gt(depth / inner, 8); /* log4(2^18) = 9 */
    ck_assert_double_lt(depth / inner, 10);
    free(t.node);
    free(t.text);
}
END_TEST

/* --- queries --- */

enum { GENOME = 500, QUERIES = 40, LENGTH = 25 };

/* A state of a genome and what is looked for in it; its letters are drawn or, without errors given, the genome itself.
 */
static struct mummergpu *state_of(int64_t bases, int64_t genome, int64_t queries, int64_t length, int64_t match)
{
    struct mummergpu *m = GIVES(calloc(1, sizeof *m));
    *m = (struct mummergpu){.bases = bases, .queries = queries, .length = length, .match = match};
    ck_assert_int_eq(tree_init(&m->tree, (uint32_t)bases, (uint64_t)genome, NULL), 0);
    return m;
}

static uint8_t *drawn(struct mummergpu *m, double errors, uint64_t seed)
{
    m->errors = errors;
    ck_assert_int_eq(draw_queries(m, seed, NULL), 0);
    uint8_t *letters = m->letters;
    m->letters = NULL;
    return letters;
}

/* The fewest of its bases that are not those of a part of the genome. */
static uint32_t off(const struct mummergpu *m, const uint8_t *query)
{
    uint32_t least = LENGTH;
    for (uint32_t at = 0; at + LENGTH <= GENOME; at++) {
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < LENGTH; i++)
            wrong += query[i] != m->tree.text[at + i];
        least = wrong < least ? wrong : least;
    }
    return least;
}

START_TEST(a_query_is_a_part_of_the_genome_but_for_its_errors)
{
    struct mummergpu *m = state_of(GENOME, 4, QUERIES, LENGTH, 20);
    uint8_t *right = drawn(m, 0, 1), *some = drawn(m, 0.1, 1), *none = drawn(m, 1, 1);
    uint32_t wrong = 0;
    for (uint32_t q = 0; q < QUERIES; q++) {
        ck_assert_uint_eq(off(m, right + (size_t)q * LENGTH), 0);
        wrong += off(m, some + (size_t)q * LENGTH);
        ck_assert_uint_gt(off(m, none + (size_t)q * LENGTH), LENGTH / 4);
    }
    ck_assert_uint_gt(wrong, QUERIES * LENGTH / 20);
    ck_assert_uint_lt(wrong, QUERIES * LENGTH / 5);
    for (uint32_t i = 0; i < QUERIES * LENGTH; i++)
        ck_assert_uint_lt(none[i], BASES);
    uint8_t *again = drawn(m, 0.1, 1), *other = drawn(m, 0.1, 2);
    ck_assert_mem_eq(again, some, QUERIES * LENGTH);
    ck_assert_mem_ne(other, some, QUERIES * LENGTH);
    uint8_t *sets[] = {right, some, none, again, other};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        free(sets[i]);
    mummergpu_close(m);
}
END_TEST

/* --- the walk --- */

/* One query that is the genome itself: it ends at its end, six bases shorter each time. */
START_TEST(a_query_of_the_genome_matches_to_its_end_from_every_start)
{
    struct mummergpu *m = state_of(30, 4, 1, 30, 25);
    struct walk walk = {0};
    uint32_t results = 0;
    m->letters = m->tree.text;
    WORKS(walk_init(&walk, m, 0, &err));
    for (size_t b = 0; b < walk.bodies; b++)
        for (uint32_t i = 0; i < walk.body[b].count; i++) {
            const struct step *a = &walk.body[b].step[i];
            ck_assert_uint_eq(a->active, 1);
            if (a->array == RESULT)
                ck_assert_uint_eq(a->index[0], results++);
            if (a->array == QUERY)
                ck_assert_uint_le(a->index[0], 31);
        }
    ck_assert_uint_eq(results, 6);
    walk_release(&walk);
    m->letters = NULL;
    mummergpu_close(m);
}
END_TEST

START_TEST(bodies_are_whole_and_lanes_those_with_a_query)
{
    struct mummergpu *m = state_of(2000, 9, 40, 25, 20);
    struct walk walk = {0};
    m->letters = m->tree.text;
    for (uint32_t first = 0; first < 64; first += 32) {
        WORKS(walk_init(&walk, m, first, &err));
        for (size_t b = 0; b < walk.bodies; b++) {
            ck_assert_uint_ge(walk.body[b].count, 1);
            ck_assert_uint_le(walk.body[b].count, BODY_STEPS);
        }
        ck_assert_uint_eq(walk.body[0].step[0].active, first ? 0xff : 0xffffffff);
        walk_release(&walk);
    }
    WORKS(walk_init(&walk, m, 64, &err));
    ck_assert_uint_eq(walk.bodies, 0);
    m->letters = NULL;
    mummergpu_close(m);
}
END_TEST

TEST_MAIN("rodinia_mummergpu_parts")
