#include "trace/workloads/rodinia/parts/query_walk.h"

#include "trace/base/testing.h"

/* One query that is the genome itself: it ends at its end, six bases shorter each time. */
START_TEST(a_query_of_the_genome_matches_to_its_end_from_every_start)
{
    struct genome_tree tree;
    struct query_walk walk = {0};
    struct err err = {""};
    uint32_t results = 0;
    ck_assert_int_eq(genome_tree_init(&tree, 30, 4, &err), 0);
    struct query_set set = {&tree, tree.text, 1, 30, 25};
    ck_assert_int_eq(query_walk_init(&walk, &set, 0, &err), 0);
    for (size_t i = 0; i < walk.n; i++) {
        const struct query_access *a = &walk.list[i];
        ck_assert_uint_eq(a->active, 1);
        if (a->array == QUERY_RESULT)
            ck_assert_uint_eq(a->index[0], results++);
        if (a->array == QUERY_LETTER)
            ck_assert_uint_le(a->index[0], 31);
    }
    ck_assert_uint_eq(results, 6);
    query_walk_release(&walk);
    genome_tree_release(&tree);
}
END_TEST

/* Bodies follow one another, each to its last access; a warp has the lanes that have a query. */
START_TEST(bodies_are_whole_and_lanes_those_with_a_query)
{
    struct genome_tree tree;
    struct query_walk walk = {0};
    struct err err = {""};
    ck_assert_int_eq(genome_tree_init(&tree, 2000, 9, &err), 0);
    struct query_set set = {&tree, tree.text, 40, 25, 20};
    for (uint32_t first = 0; first < 64; first += 32) {
        ck_assert_int_eq(query_walk_init(&walk, &set, first, &err), 0);
        size_t at = 0;
        for (size_t b = 0; b < walk.bodies; b++) {
            ck_assert_uint_eq(walk.body[b], at);
            while (!walk.list[at].last)
                at++;
            at++;
        }
        ck_assert_uint_eq(at, walk.n);
        ck_assert_uint_eq(walk.list[0].active, first ? 0xff : 0xffffffff);
    }
    ck_assert_int_eq(query_walk_init(&walk, &set, 64, &err), 0);
    ck_assert_uint_eq(walk.bodies, 0);
    query_walk_release(&walk);
    genome_tree_release(&tree);
}
END_TEST

TEST_MAIN("query_walk", a_query_of_the_genome_matches_to_its_end_from_every_start,
          bodies_are_whole_and_lanes_those_with_a_query)
