#include "models/uvm/evict/evict_testing.h"

/* uvm-driver's first example: services of A, B, C, A, so the order is B, C, A. */
START_TEST(the_block_least_recently_serviced_goes)
{
    struct evict_scene s;
    evict_scene(&s, "lru");
    evict_add(&s, 1);
    evict_add(&s, 2);
    evict_add(&s, 0)->allocation_order = 1;
    ck_assert_uint_eq(evict_pick(&s), 1);
    evict_remove(&s, 1);
    ck_assert_uint_eq(evict_pick(&s), 2);
}
END_TEST

START_TEST(the_block_that_needs_the_memory_never_goes)
{
    struct evict_scene s;
    evict_scene(&s, "lru");
    evict_add(&s, 3);
    evict_add(&s, 4);
    s.view.requester = 3;
    ck_assert_uint_eq(evict_pick(&s), 4);
}
END_TEST

START_TEST(it_is_the_drivers_and_the_only_one)
{
    size_t stock = 0;
    for (size_t i = 0; uvm_evict_policies[i]; i++)
        stock += uvm_evict_of(uvm_evict_policies[i])->stock;
    ck_assert_uint_eq(stock, 1);
    ck_assert_ptr_eq(uvm_evict_of(NULL), (const struct uvm_evict_policy *)policy_find(uvm_evict_policies, "lru"));
}
END_TEST

TEST_MAIN("evict/lru")
