#include "models/uvm/uvm_policy.h"
#include "trace/base/testing.h"

START_TEST(every_policy_is_complete_and_found_by_its_name)
{
    for (size_t i = 0; uvm_policies[i]; i++) {
        const struct uvm_policy *p = uvm_policies[i];
        ck_assert(p->head.name && p->head.summary && p->head.source && p->plan);
        ck_assert_ptr_eq(uvm_policy_find(p->head.name), p);
        ck_assert_ptr_eq(uvm_policy_heads[i], &p->head);
        ck_assert_ptr_eq(uvm_policy_of(&p->head), p);
        void *state = calloc(1, p->head.state_size + 1);
        param_defaults(p->head.params, state);
        struct err err = {""};
        ck_assert_msg(!p->init || p->init(state, &err) == 0, "%s: %s", p->head.name, err.msg);
        free(state);
    }
    ck_assert_ptr_null(uvm_policy_find("nothing"));
    ck_assert_ptr_null(uvm_policy_of(NULL));
}
END_TEST

START_TEST(the_same_arguments_give_the_same_plan)
{
    struct uvm_block b;
    uvm_block_init(&b, 4096 * 3, UVM_BLOCK_BYTES - 4096 * 5);
    page_mask_set_region(&b.resident, 30, 160);
    struct page_mask f = {{0}}, one, two;
    page_mask_set(&f, 17);
    page_mask_set(&f, 400);
    for (size_t i = 0; uvm_policies[i]; i++) {
        const struct uvm_policy *p = uvm_policies[i];
        void *state = calloc(1, p->head.state_size + 1);
        param_defaults(p->head.params, state);
        ck_assert(!p->init || p->init(state, NULL) == 0);
        memset(&one, 0xAA, sizeof one);
        memset(&two, 0x55, sizeof two);
        p->plan(state, &b, &f, &one);
        p->plan(state, &b, &f, &two);
        ck_assert(page_mask_equal(&one, &two));
        ck_assert(!page_mask_intersects(&one, &f) && !page_mask_intersects(&one, &b.resident));
        ck_assert_uint_eq(page_mask_count_region(&one, b.first, b.end), page_mask_count(&one));
        free(state);
    }
}
END_TEST

TEST_MAIN("uvm_policies", every_policy_is_complete_and_found_by_its_name, the_same_arguments_give_the_same_plan)
