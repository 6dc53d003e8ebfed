#include "models/uvm/evict/evict_testing.h"
#include "trace/base/param_value.h"

START_TEST(each_block_outside_the_batch_is_as_likely)
{
    struct evict_scene s;
    unsigned times[EVICT_BLOCKS] = {0};
    evict_scene(&s, "random");
    for (uint32_t b = 0; b < 4; b++)
        evict_add(&s, b);
    s.facts[1].last_fault_batch = s.view.batch;
    for (int i = 0; i < 30000; i++)
        times[evict_pick(&s)]++;
    ck_assert_uint_eq(times[1], 0);
    for (uint32_t b = 0; b < 4; b++)
        ck_assert(b == 1 || (times[b] > 9700 && times[b] < 10300)); /* 10,000 +- 3.7 sigma */
}
END_TEST

START_TEST(a_seed_gives_the_same_victims_another_gives_others)
{
    uint64_t was[3] = {0};
    for (int k = 0; k < 3; k++) {
        struct evict_scene s;
        evict_scene(&s, "random");
        ck_assert_int_eq(param_set(s.policy->head.params, s.state, "seed", k == 2 ? "2" : "1", NULL), 0);
        for (uint32_t b = 0; b < 4; b++)
            evict_add(&s, b);
        for (int i = 0; i < 30; i++)
            was[k] = was[k] << 2 | evict_pick(&s);
    }
    ck_assert_uint_eq(was[0], was[1]);
    ck_assert_uint_ne(was[0], was[2]);
}
END_TEST

START_TEST(with_the_batch_in_hand_everywhere_the_oldest_goes)
{
    struct evict_scene s;
    evict_scene(&s, "random");
    evict_add(&s, 3)->last_fault_batch = s.view.batch;
    evict_add(&s, 2)->last_fault_batch = s.view.batch;
    ck_assert_uint_eq(evict_pick(&s), 3);
    s.view.requester = UVM_NO_BLOCK;
    ck_assert_uint_eq(evict_pick(&s), UVM_NO_BLOCK); /* nobody waits: then none goes */
}
END_TEST

TEST_MAIN("evict/random")
