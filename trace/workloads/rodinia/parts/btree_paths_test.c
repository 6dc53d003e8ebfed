#include "trace/workloads/rodinia/parts/btree_paths.h"

#include <stdbool.h>

#include "trace/base/testing.h"

/* The header's example. */
START_TEST(the_way_to_a_key_is_that_of_the_example)
{
    struct btree_tree tree;
    btree_tree(&tree, 100, 4);
    ck_assert_uint_eq(tree.height, 3);
    ck_assert_uint_eq(tree.first[4], 35);
    struct btree_path p = btree_path(&tree, 37);
    static const uint32_t node[] = {0, 1, 5, 19}, slot[] = {0, 2, 1, 2};
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(p.node[i], node[i]);
        ck_assert_uint_eq(p.slot[i], slot[i]);
    }
}
END_TEST

/* What a way means: the slots are the digits of the key. */
START_TEST(every_key_has_a_leaf_slot_of_its_own)
{
    static bool seen[600][8];
    struct btree_tree tree;
    btree_tree(&tree, 1000, 7);
    ck_assert_uint_eq(tree.height, 3);
    for (uint32_t key = 0; key < 1000; key++) {
        struct btree_path p = btree_path(&tree, key);
        ck_assert_uint_eq(p.slot[0] * 343u + p.slot[1] * 49u + p.slot[2] * 7u + p.slot[3] - 1, key);
        ck_assert_uint_ge(p.node[3], tree.first[3]);
        ck_assert_uint_lt(p.node[3], tree.first[4]);
        ck_assert(!seen[p.node[3]][p.slot[3]]);
        seen[p.node[3]][p.slot[3]] = true;
    }
}
END_TEST

START_TEST(ranges_end_so_many_keys_behind_or_at_the_last_key)
{
    struct btree_tree t;
    struct btree_queries q;
    uint32_t moved = 0;
    btree_tree(&t, 100, 4);
    ck_assert_int_eq(btree_queries_draw(&q, &t, 7, 200, 30, 50, NULL), 0);
    for (int i = 0; i < 200; i++) {
        bool last = q.end[i].record == 99 && q.start[i].record == 70;
        moved += last;
        ck_assert(last || q.end[i].record == q.start[i].record + 30);
    }
    ck_assert_uint_gt(moved, 30); /* of three in ten */
    ck_assert_uint_lt(moved, 90);
    for (int i = 0; i < 50; i++)
        ck_assert_uint_lt(q.find[i].record, 100);
    btree_queries_release(&q);
}
END_TEST

TEST_MAIN("btree_paths", the_way_to_a_key_is_that_of_the_example, every_key_has_a_leaf_slot_of_its_own,
          ranges_end_so_many_keys_behind_or_at_the_last_key)
