#include "models/uvm/evict/evict_testing.h"

START_TEST(the_block_with_the_fewest_pages_goes_and_of_equals_the_oldest)
{
    struct evict_scene s;
    evict_scene(&s, "least-resident");
    evict_add(&s, 0)->resident = 512;
    evict_add(&s, 2)->resident = 16;
    evict_add(&s, 1)->resident = 16;
    ck_assert_uint_eq(evict_pick(&s), 2);
    s.view.requester = 2;
    ck_assert_uint_eq(evict_pick(&s), 1);
}
END_TEST

TEST_MAIN("evict/least_resident")
