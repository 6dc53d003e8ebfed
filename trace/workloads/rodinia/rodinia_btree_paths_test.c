/* What the program draws or lists when it is opened: its own functions, by including it. */
#include "trace/workloads/rodinia/rodinia_btree.c"

#include "trace/workloads/rodinia/check_testing.h"

/* The header's example. */
START_TEST(the_way_to_a_key_is_that_of_the_example)
{
    struct btree tree = {.n = 100, .fan = 4};
    set_levels(&tree);
    ck_assert_uint_eq(tree.height, 3);
    ck_assert_uint_eq(tree.first[4], 35);
    struct path p = path_to(&tree, 37);
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
    struct btree tree = {.n = 1000, .fan = 7};
    set_levels(&tree);
    ck_assert_uint_eq(tree.height, 3);
    for (uint32_t key = 0; key < 1000; key++) {
        struct path p = path_to(&tree, key);
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
    uint32_t moved = 0;
    struct btree *q =
        btree_open(&(struct btree){.n = 100, .fan = 4, .seed = 7, .ranges = 200, .range = 30, .queries = 50}, NULL);
    for (int i = 0; i < 200; i++) {
        bool last = q->end[i].record == 99 && q->start[i].record == 70;
        moved += last;
        ck_assert(last || q->end[i].record == q->start[i].record + 30);
    }
    ck_assert_uint_gt(moved, 30); /* of three in ten */
    ck_assert_uint_lt(moved, 90);
    for (int i = 0; i < 50; i++)
        ck_assert_uint_lt(q->find[i].record, 100);
    btree_close(q);
}
END_TEST

/* 1000 records, 4 nodes, 4 queries: slot b mod 3 of the root, 40 b + 5 of its leaf, record 97 b. Source: emulations of
 * Rodinia's kernel. */
START_TEST(four_queries_make_the_emulated_counts)
{
    struct workload w;
    struct program program = program_opened(&w, "rodinia-btree,kernel=findK,n=1000,fan=255,queries=4", 0, 0);
    struct btree *b = w.state;
    for (uint32_t i = 0; i < 4; i++)
        b->find[i] = (struct path){
            .node = {0, 1 + i % 3}, .slot = {(uint16_t)(i % 3), (uint16_t)(40 * i + 5)}, .record = 97 * i};
    size_t n;
    struct program_alloc *allocs = (struct program_alloc *)program.ops->allocs(program.state, &n);
    ck_assert_uint_eq(n, 6);
    ck_assert_uint_eq(b->height, 1);
    allocs[KNODE_F].bytes = 4 * NODE_WORDS * 4;
    program_place(allocs, n, 0xC0000000u, 256);
    CHECK_OPEN(&program, {0, .reads = {216, 6171, 472, 280, 144, 47}, .writes = {12, 12, 12, 12, 3, 3}});
    workload_close(&w);
}
END_TEST

START_TEST(huge_trees_open_at_once)
{
    struct workload w;
    struct program program = program_opened(&w, "rodinia-btree,n=268435456,fan=2,queries=1,ranges=1", 0, 0);
    ck_assert_uint_eq(((struct btree *)w.state)->height, 27);
    ck_assert_uint_eq(program.ops->launches(program.state), 2);
    workload_close(&w);
}
END_TEST

TEST_MAIN("rodinia_btree_paths")
