#include "models/uvm/uvm_evict.h"

#include "models/uvm/evict/evict_testing.h"

START_TEST(every_policy_is_complete_and_found_by_its_name)
{
    for (size_t i = 0; uvm_evict_policies[i]; i++) {
        const struct uvm_evict_policy *p = uvm_evict_of(uvm_evict_policies[i]);
        ck_assert(p->head.name && p->head.summary && p->head.source && p->pick);
        ck_assert_ptr_eq((const struct uvm_evict_policy *)policy_find(uvm_evict_policies, p->head.name), p);
    }
    ck_assert_ptr_null((const struct uvm_evict_policy *)policy_find(uvm_evict_policies, "tree"));
}
END_TEST

/* The rules of every policy: a block that holds memory, and not the one that needs some. */
START_TEST(every_pick_holds_memory_and_is_not_the_block_that_needs_it)
{
    for (size_t i = 0; uvm_evict_policies[i]; i++)
        for (uint32_t requester = 0; requester < EVICT_BLOCKS; requester++)
            for (uint32_t hand = 0; hand < 1 << 5; hand++) {
                struct evict_scene s;
                evict_scene(&s, uvm_evict_policies[i]->name);
                s.view.requester = requester;
                for (uint32_t b = 0; b < 5; b++) {
                    struct uvm_evict_block *f = evict_add(&s, b * 3 % 5);
                    f->last_fault_batch = hand >> b & 1 ? s.view.batch : 1;
                    f->resident = 1 + b * 7 % 4;
                    f->pieces = uvm_evict_in_pieces(s.policy, s.state) ? 0x11u << b : UINT32_MAX;
                }
                struct uvm_victim v = evict_victim(&s);
                ck_assert_uint_lt(v.block, 5);
                ck_assert_uint_ne(v.block, requester);
                ck_assert_uint_ne(v.pieces & s.facts[v.block].pieces, 0);
            }
}
END_TEST

START_TEST(capacity_is_read_from_the_state)
{
    struct uvm_evict_plain s = {UVM_EVICT_PIECE};
    ck_assert(uvm_evict_in_pieces((const struct uvm_evict_policy *)policy_find(uvm_evict_policies, "lru"), &s));
    s.capacity = UVM_EVICT_CHUNK;
    ck_assert(!uvm_evict_in_pieces((const struct uvm_evict_policy *)policy_find(uvm_evict_policies, "lru"), &s));
    ck_assert(!uvm_evict_in_pieces((const struct uvm_evict_policy *)policy_find(uvm_evict_policies, "unobtrusive"),
                                   NULL)); /* has no such parameter */
}
END_TEST

TEST_MAIN("uvm_evict")
