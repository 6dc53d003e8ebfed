#include "models/uvm/evict/counter.h"

#include "models/uvm/evict/evict_testing.h"

START_TEST(v9_the_threshold_of_the_paper)
{
    ck_assert_double_eq(uvm_evict_counter_threshold(10, 2, 0.5, false, 3), 6);
    ck_assert_double_eq(uvm_evict_counter_threshold(10, 2, 0.5, true, 3), 80);
}
END_TEST

START_TEST(the_block_that_is_notified_of_least_goes_until_notices_are_old)
{
    struct evict_scene s;
    evict_scene(&s, "counter");
    evict_add(&s, 0);
    evict_add(&s, 1);
    evict_add(&s, 2);
    ck_assert_uint_eq(evict_pick(&s), 0); /* the oldest, while nothing is known */
    s.policy->on_counter(s.state, &s.view, 0, 1);
    s.policy->on_counter(s.state, &s.view, 1, 1);
    ck_assert_uint_eq(evict_pick(&s), 2);
    s.view.batch += 60;
    s.policy->on_counter(s.state, &s.view, 2, 1);
    s.policy->on_counter(s.state, &s.view, 2, 1);
    ck_assert_uint_eq(evict_pick(&s), 0);
    s.view.batch += 39; /* 99 after the first two */
    ck_assert_uint_eq(evict_pick(&s), 0);
    evict_remove(&s, 0);
    s.view.batch += 1;
    ck_assert_uint_eq(evict_pick(&s), 1); /* forgotten */
    s.policy->release(s.state);
}
END_TEST

START_TEST(the_threshold_is_the_drivers_unless_it_follows_the_memory)
{
    struct evict_scene s;
    evict_scene(&s, "counter");
    evict_add(&s, 0);
    ck_assert_int_eq(s.policy->threshold(s.state, &s.view, 0), 256);
    ck_assert_int_eq(param_set(s.policy->head.params, s.state, "t", "10", NULL), 0);
    s.view.total_pieces = 64;
    s.view.free_pieces = 32;
    ck_assert_int_eq(s.policy->threshold(s.state, &s.view, 0), 6);
    s.facts[0].evictions = 3;
    ck_assert_int_eq(s.policy->threshold(s.state, &s.view, 0), 80);
}
END_TEST

TEST_MAIN("evict/counter", v9_the_threshold_of_the_paper,
          the_block_that_is_notified_of_least_goes_until_notices_are_old,
          the_threshold_is_the_drivers_unless_it_follows_the_memory)
