#include "models/uvm/evict/evict_testing.h"
#include "trace/base/param_value.h"

START_TEST(it_keeps_so_many_chunks_free_and_no_block_of_the_batch_pays)
{
    struct evict_scene s;
    evict_scene(&s, "reserve");
    ck_assert_int_eq(param_set(s.policy->head.params, s.state, "chunks", "2", NULL), 0);
    ck_assert_uint_eq(s.policy->keep_free(s.state), 2);
    evict_add(&s, 3)->last_fault_batch = s.view.batch;
    evict_add(&s, 1);
    ck_assert_uint_eq(evict_pick(&s), 3); /* block 7 waits: the driver's order */
    s.view.requester = UVM_NO_BLOCK;
    ck_assert_uint_eq(evict_pick(&s), 1); /* behind the batch */
}
END_TEST

TEST_MAIN("evict/reserve")
