#include "models/uvm/evict/evict_testing.h"

START_TEST(services_do_not_move_the_first_to_come)
{
    struct evict_scene s;
    evict_scene(&s, "fifo");
    evict_add(&s, 1);
    evict_add(&s, 2);
    evict_add(&s, 0)->allocation_order = 1; /* came first, serviced last */
    ck_assert_uint_eq(evict_pick(&s), 0);
    evict_remove(&s, 0);
    ck_assert_uint_eq(evict_pick(&s), 1);
}
END_TEST

START_TEST(of_blocks_that_came_together_the_least_recently_serviced_goes)
{
    struct evict_scene s;
    evict_scene(&s, "fifo");
    evict_add(&s, 2)->allocation_order = 5;
    evict_add(&s, 0)->allocation_order = 5;
    evict_add(&s, 1)->allocation_order = 5;
    ck_assert_uint_eq(evict_pick(&s), 2);
}
END_TEST

TEST_MAIN("evict/fifo")
