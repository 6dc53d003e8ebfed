#include "models/uvm/evict/evict_testing.h"

START_TEST(the_newest_outside_the_batch_goes)
{
    struct evict_scene s;
    evict_scene(&s, "mru");
    for (uint32_t b = 0; b < 4; b++)
        evict_add(&s, b);
    ck_assert_uint_eq(evict_pick(&s), 3);
    s.facts[3].last_fault_batch = s.view.batch;
    ck_assert_uint_eq(evict_pick(&s), 2);
}
END_TEST

START_TEST(if_the_batch_has_everything_the_oldest_goes)
{
    struct evict_scene s;
    evict_scene(&s, "mru");
    for (uint32_t b = 0; b < 3; b++)
        evict_add(&s, b)->last_fault_batch = s.view.batch;
    s.view.requester = 0;
    ck_assert_uint_eq(evict_pick(&s), 1);
}
END_TEST

TEST_MAIN("evict/mru")
