#include "models/uvm/uvm_policy.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

START_TEST(every_policy_is_complete_and_found_by_its_name)
{
    const struct uvm_policy *p;
    for (size_t i = 0; (p = uvm_policy_of(uvm_policies[i])); i++) {
        ck_assert(p->head.name && p->head.summary && p->head.source && p->plan);
        ck_assert_ptr_eq((const struct uvm_policy *)policy_find(uvm_policies, p->head.name), p);
        ck_assert_ptr_eq(uvm_policies[i], &p->head);
        void *state = calloc(1, p->head.state_size + 1);
        param_defaults(p->head.params, state);
        struct err err = {""};
        ck_assert_msg(!p->init || p->init(state, &err) == 0, "%s: %s", p->head.name, err.msg);
        free(state);
    }
    ck_assert_ptr_null((const struct uvm_policy *)policy_find(uvm_policies, "nothing"));
    ck_assert_ptr_null(uvm_policy_of(NULL));
    ck_assert_ptr_null(uvm_policy_of(policy_find(uvm_policies, "pinned")));
}
END_TEST

/* What has come to a block after 17 pages, unevenly spread, were touched in one of many orders, up to four in a
 * batch. */
static struct page_mask came(const struct uvm_policy *p, const void *state, unsigned order)
{
    static const unsigned stride[] = {3, 5, 7, 11};
    struct uvm_block b;
    uvm_block_init(&b, 4096 * 3, UVM_BLOCK_BYTES - 4096 * 5);
    for (unsigned k = 0, n; k < 17; k += n) {
        struct page_mask faulted = {{0}}, plan;
        n = 1 + order % 4;
        for (unsigned j = k; j < k + n && j < 17; j++) {
            unsigned spot = (order % 2 ? 16 - j : j) * stride[order / 10] % 17, page = b.first + spot * spot % 62 * 8;
            if (page < b.end && !page_mask_test(&b.resident, page))
                page_mask_set(&faulted, page);
        }
        if (!page_mask_any(&faulted))
            continue;
        p->plan(state, &b, &faulted, &plan);
        page_mask_or(&b.resident, &b.resident, &faulted);
        page_mask_or(&b.resident, &b.resident, &plan);
    }
    return b.resident;
}

START_TEST(the_same_arguments_give_the_same_plan)
{
    struct uvm_block b;
    uvm_block_init(&b, 4096 * 3, UVM_BLOCK_BYTES - 4096 * 5);
    page_mask_set_region(&b.resident, 30, 160);
    struct page_mask f = {{0}}, one, two;
    page_mask_set(&f, 17);
    page_mask_set(&f, 400);
    const struct uvm_policy *p;
    for (size_t i = 0; (p = uvm_policy_of(uvm_policies[i])); i++) {
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

START_TEST(one_policy_is_the_stock_drivers)
{
    const struct uvm_policy *p;
    size_t stock = 0;
    for (size_t i = 0; (p = uvm_policy_of(uvm_policies[i])); i++)
        stock += p->stock;
    ck_assert_uint_eq(stock, 1);
    ck_assert_str_eq(uvm_policy_stock()->head.name, "tree");
}
END_TEST

/* All orders and batches of the same touches bring the same pages, if the policy is fixed. */
START_TEST(a_fixed_policy_brings_the_same_in_any_order_and_batches)
{
    const struct uvm_policy *p;
    for (size_t i = 0; (p = uvm_policy_of(uvm_policies[i])); i++) {
        void *state = calloc(1, p->head.state_size + 1);
        param_defaults(p->head.params, state);
        ck_assert(!p->init || p->init(state, NULL) == 0);
        struct page_mask first = {{0}};
        bool same = true;
        for (unsigned order = 0; order < 40; order++) {
            struct page_mask all = came(p, state, order);
            if (order == 0)
                first = all;
            same &= page_mask_equal(&first, &all);
        }
        ck_assert_msg(same || !p->head.fixed, "%s is not fixed", p->head.name);
        ck_assert_msg(!same || !p->stock, "the orders do not tell %s from a fixed policy", p->head.name);
        free(state);
    }
}
END_TEST

static void plan_all(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                     struct page_mask *plan)
{
    (void)state;
    (void)faulted;
    page_mask_zero(plan);
    page_mask_set_region(plan, block->first, block->end);
}

START_TEST(a_plan_of_pages_that_cannot_move_is_an_error)
{
    const struct uvm_policy all = {.head = {.name = "all", .summary = "", .source = ""}, .plan = plan_all};
    struct uvm_block block;
    struct page_mask faulted = {{1}}, plan;
    uvm_block_init(&block, 0x200000, 0x400000);
    const struct uvm_policy *fixed = (const struct uvm_policy *)policy_find(uvm_policies, "fixed");
    void *state = calloc(1, fixed->head.state_size);
    param_defaults(fixed->head.params, state);
    WORKS(uvm_policy_plan(fixed, state, &block, &faulted, &plan, &err));
    free(state);
    FAILS_WITH(uvm_policy_plan(&all, NULL, &block, &faulted, &plan, &err),
               "policy all plans pages of the block at 0x200000");
}
END_TEST

TEST_MAIN("uvm_policies")
