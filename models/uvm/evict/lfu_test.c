#include "models/uvm/evict/evict_testing.h"

START_TEST(fewest_services_go_first_and_of_equals_the_oldest)
{
    struct evict_scene s;
    evict_scene(&s, "lfu");
    evict_add(&s, 0)->services = 3;
    evict_add(&s, 1);
    evict_add(&s, 2);
    ck_assert_uint_eq(evict_pick(&s), 1);
    evict_remove(&s, 1);
    evict_remove(&s, 2);
    ck_assert_uint_eq(evict_pick(&s), 0);
}
END_TEST

START_TEST(notifications_count_where_there_are_some)
{
    struct evict_scene s;
    evict_scene(&s, "lfu");
    evict_add(&s, 0)->notifications = 5;
    evict_add(&s, 1)->services = 4;
    ck_assert_uint_eq(evict_pick(&s), 1);
    s.facts[0].notifications = 2;
    ck_assert_uint_eq(evict_pick(&s), 0);
}
END_TEST

TEST_MAIN("evict/lfu")
