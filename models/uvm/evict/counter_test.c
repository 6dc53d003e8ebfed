#include "models/uvm/evict/counter.c"
#include "models/uvm/evict/evict_testing.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"

static void notice(struct evict_scene *s, uint32_t block)
{
    ck_assert_int_eq(s->policy->on_access_counter(s->state, &s->view, block, 1, NULL), 0);
}

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
    notice(&s, 0);
    notice(&s, 1);
    ck_assert_uint_eq(evict_pick(&s), 2);
    s.view.batch += 60;
    notice(&s, 2);
    notice(&s, 2);
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
    ck_assert_int_eq(s.policy->access_counter_threshold(s.state, &s.view, 0), 256);
    ck_assert_int_eq(param_set(s.policy->head.params, s.state, "t", "10", NULL), 0);
    s.view.total_pieces = 64;
    s.view.free_pieces = 32;
    ck_assert_int_eq(s.policy->access_counter_threshold(s.state, &s.view, 0), 6);
    s.view.total_pieces = 0; /* nothing is known of the memory: as if it were empty */
    ck_assert_int_eq(s.policy->access_counter_threshold(s.state, &s.view, 0), 1);
    s.facts[0].evictions = 3;
    ck_assert_int_eq(s.policy->access_counter_threshold(s.state, &s.view, 0), 80);
}
END_TEST

/* So many notices that the queue is moved to its front many times: what a block has of the last hundred batches is
 * counted as by its definition. */
START_TEST(notices_are_counted_however_many_there_were)
{
    enum { BATCHES = 9000, LAST = 100 };
    static uint8_t told[BATCHES][3];
    struct random random = {5};
    struct evict_scene s;
    evict_scene(&s, "counter");
    evict_add(&s, 2);
    evict_add(&s, 0);
    evict_add(&s, 1);
    for (uint32_t b = 0; b < BATCHES; b++) {
        s.view.batch = b;
        for (uint32_t i = random_below(&random, 4); i > 0; i--) {
            const uint32_t block = random_below(&random, 3);
            notice(&s, block);
            told[b][block]++;
        }
        uint32_t sum[3] = {0};
        for (uint32_t k = b < LAST ? 0 : b - LAST + 1; k <= b; k++)
            for (uint32_t block = 0; block < 3; block++)
                sum[block] += told[k][block];
        static const uint32_t by_age[] = {2, 0, 1};
        uint32_t best = 2;
        for (int i = 1; i < 3; i++)
            best = sum[by_age[i]] < sum[best] ? by_age[i] : best;
        ck_assert_uint_eq(evict_pick(&s), best);
    }
    s.policy->release(s.state);
}
END_TEST

TEST_MAIN("evict/counter")
