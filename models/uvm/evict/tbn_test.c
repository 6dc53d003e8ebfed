#include "models/uvm/evict/evict_testing.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"

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

/* The rule of the paper from the top: what of the `size` leaves from `first` on stays, once each half has been asked.
 */
static uint32_t stays(uint32_t valid, unsigned first, unsigned size, unsigned leaves)
{
    if (first >= leaves || size == 1)
        return valid;
    const uint32_t halves = stays(stays(valid, first, size / 2, leaves), first + size / 2, size / 2, leaves);
    uint32_t node = 0;
    unsigned real = 0;
    for (unsigned leaf = first; leaf < first + size && leaf < leaves; leaf++, real++)
        node |= 1u << leaf;
    return 2 * (unsigned)__builtin_popcount(halves & node) < real ? halves & ~node : halves;
}

START_TEST(any_leaves_go_as_the_tree_says)
{
    struct random random = {11};
    for (int round = 0; round < 5000; round++) {
        struct evict_scene s;
        const unsigned leaves = 1 + random_below(&random, 32);
        one_block(&s, leaves);
        const uint32_t all = s.facts[2].pieces;
        uint32_t pieces = (uint32_t)random_next(&random) & all, coldest = UVM_BLOCK_PIECES;
        pieces = pieces && random_below(&random, 4) ? pieces : all;
        s.facts[2].pieces = pieces;
        for (unsigned i = 0; i < leaves; i++)
            s.age[2 * UVM_BLOCK_PIECES + i] = random_below(&random, 40);
        for (unsigned i = leaves; i-- > 0;)
            if (pieces >> i & 1 && (coldest == UVM_BLOCK_PIECES ||
                                    s.age[2 * UVM_BLOCK_PIECES + i] <= s.age[2 * UVM_BLOCK_PIECES + coldest]))
                coldest = i;
        const uint32_t left = stays(pieces & ~(1u << coldest), 0, 32, leaves);
        (void)give_up(&s);
        ck_assert_uint_eq(s.facts[2].pieces, left);
    }
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
    evict_scene(&s, "tbn");
    ck_assert(uvm_evict_in_pieces(s.policy, s.state));
    ck_assert_int_eq(param_set(s.policy->head.params, s.state, "capacity", "chunk", NULL), 0);
    FAILS_WITH(s.policy->init(s.state, &err), "capacity=piece");
}
END_TEST

TEST_MAIN("evict/tbn")
