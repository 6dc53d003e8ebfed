#include "models/uvm/prefetch/ahead_testing.h"

static uint64_t state[16];

static const struct uvm_policy *start(const char *degree)
{
    const struct uvm_policy *p = uvm_policy_find("stride");
    memset(state, 0, sizeof state);
    param_defaults(p->head.params, state);
    ck_assert_int_eq(param_set(p->head.params, state, "degree", degree, NULL), 0);
    return p;
}

START_TEST(a_distance_that_comes_again_twice_asks_for_what_follows)
{
    const struct uvm_policy *p = start("4");
    static const uint32_t pages[] = {3, 10, 10, 17, 24};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(ahead_of(p, state, &pages[i], 1).count, 0);
    struct uvm_asks asks = ahead_of(p, state, &pages[4], 1);
    ck_assert_uint_eq(asks.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(asks.pages[i], 31 + 7 * i);
    p->release(state);
}
END_TEST

START_TEST(within_one_batch_and_across_blocks)
{
    const struct uvm_policy *p = start("3");
    static const uint32_t pages[] = {200, 300, 400, 500}, next[] = {600};
    struct uvm_asks asks = ahead_of(p, state, pages, 4);
    ck_assert_uint_eq(asks.count, 3);
    ck_assert_uint_eq(asks.pages[0], 600); /* in block 1, which did not fault */
    asks = ahead_of(p, state, next, 1);
    ck_assert_uint_eq(asks.count, 3); /* the entry went on with it */
    ck_assert_uint_eq(asks.pages[2], 900);
    p->release(state);
}
END_TEST

START_TEST(faults_without_one_distance_ask_for_nothing)
{
    const struct uvm_policy *p = start("3");
    static const uint32_t pages[] = {1, 2, 4, 8, 16, 32, 64, 128};
    ck_assert_uint_eq(ahead_of(p, state, pages, 8).count, 0);
    static const uint32_t end[] = {3000, 3300, 3600, 3900};
    ck_assert_uint_eq(ahead_of(p, state, end, 4).count, 0); /* four blocks, one fault each */
    p->release(state);
}
END_TEST

TEST_MAIN("prefetch/stride", a_distance_that_comes_again_twice_asks_for_what_follows,
          within_one_batch_and_across_blocks, faults_without_one_distance_ask_for_nothing)
