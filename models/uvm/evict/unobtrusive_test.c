#include "models/uvm/evict/evict_testing.h"

START_TEST(it_asks_for_what_the_batch_lacks)
{
    struct evict_scene s;
    evict_scene(&s, "unobtrusive");
    s.view.free_pieces = 2 * UVM_BLOCK_PIECES + 5;
    ck_assert_uint_eq(s.policy->before_batch(s.state, &s.view, 5), 3);
    ck_assert_uint_eq(s.policy->before_batch(s.state, &s.view, 2), 0);
}
END_TEST

START_TEST(it_spares_the_batch_and_takes_the_oldest)
{
    struct evict_scene s;
    evict_scene(&s, "unobtrusive");
    evict_add(&s, 3)->last_fault_batch = s.view.batch;
    evict_add(&s, 1);
    evict_add(&s, 2);
    ck_assert_uint_eq(evict_pick(&s), 1);
    s.view.requester = UVM_NO_BLOCK;
    evict_remove(&s, 1);
    evict_remove(&s, 2);
    ck_assert_uint_eq(evict_pick(&s), UVM_NO_BLOCK); /* never the batch's own, unless somebody waits */
}
END_TEST

TEST_MAIN("evict/unobtrusive")
