#include "models/uvm/evict/evict_testing.h"

/* One block with `leaves` valid leaves whose ages ascend. */
static void one_block(struct evict_scene *s, unsigned leaves)
{
    evict_scene(s, "tbn");
    evict_add(s, 2)->pieces = (uint32_t)((1ull << leaves) - 1);
    s->block[2].end = (uint16_t)(leaves * UVM_BIG_PAGES);
    for (unsigned i = 0; i < leaves; i++)
        s->age[2 * UVM_BLOCK_PIECES + i] = i + 1;
}

static uint32_t give_up(struct evict_scene *s)
{
    struct uvm_victim v = s->policy->pick(s->state, &s->view);
    ck_assert_uint_eq(v.block, 2);
    ck_assert_uint_eq(v.pieces & ~s->facts[2].pieces, 0);
    s->facts[2].pieces &= ~v.pieces;
    return v.pieces;
}

START_TEST(eight_leaves_go_in_four_evictions)
{
    struct evict_scene s;
    one_block(&s, 8);
    ck_assert_uint_eq(give_up(&s), 0x01);
    ck_assert_uint_eq(give_up(&s), 0x02);
    ck_assert_uint_eq(give_up(&s), 0x0C);
    ck_assert_uint_eq(give_up(&s), 0xF0);
}
END_TEST

START_TEST(thirty_two_leaves_go_as_1_1_2_4_8_16)
{
    static const int went[] = {1, 1, 2, 4, 8, 16};
    struct evict_scene s;
    one_block(&s, 32);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(__builtin_popcount(give_up(&s)), went[i]);
    ck_assert_uint_eq(s.facts[2].pieces, 0);
}
END_TEST

START_TEST(of_equally_old_leaves_the_lower_goes)
{
    struct evict_scene s;
    one_block(&s, 8);
    for (unsigned i = 0; i < 8; i++)
        s.age[2 * UVM_BLOCK_PIECES + i] = 9;
    ck_assert_uint_eq(give_up(&s), 0x01);
}
END_TEST

START_TEST(the_block_whose_newest_leaf_is_oldest_goes_first)
{
    struct evict_scene s;
    one_block(&s, 8);
    evict_add(&s, 1); /* serviced later, but for a leaf that is older than all */
    ck_assert_uint_eq(s.policy->pick(s.state, &s.view).block, 2);
}
END_TEST

START_TEST(chunks_are_too_large_for_it)
{
    struct evict_scene s;
    struct err err;
    evict_scene(&s, "tbn");
    ck_assert(uvm_evict_in_pieces(s.policy, s.state));
    ck_assert_int_eq(param_set(s.policy->head.params, s.state, "capacity", "chunk", NULL), 0);
    ck_assert_int_eq(s.policy->init(s.state, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "capacity=piece"));
}
END_TEST

TEST_MAIN("evict/tbn", eight_leaves_go_in_four_evictions, thirty_two_leaves_go_as_1_1_2_4_8_16,
          of_equally_old_leaves_the_lower_goes, the_block_whose_newest_leaf_is_oldest_goes_first,
          chunks_are_too_large_for_it)
