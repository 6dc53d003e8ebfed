#include "models/uvm/uvm_policy.h"

_Static_assert(offsetof(struct uvm_policy, head) == 0, "a head in the list is its policy");

const struct uvm_policy *uvm_policy_of(const struct policy_head *head)
{
    return head && !head->baseline ? (const struct uvm_policy *)head : NULL;
}

const struct uvm_policy *uvm_policy_find(const char *name)
{
    return uvm_policy_of(policy_find(uvm_policies, name));
}

const struct uvm_policy *uvm_policy_stock(void)
{
    size_t i = 0;
    while (!uvm_policy_of(uvm_policies[i])->stock)
        i++;
    return uvm_policy_of(uvm_policies[i]);
}

int uvm_policy_plan(const struct uvm_policy *policy, const void *state, const struct uvm_block *block,
                    const struct page_mask *faulted, struct page_mask *plan, struct err *err)
{
    policy->plan(state, block, faulted, plan);
    struct page_mask movable = *plan;
    uvm_block_keep_movable(block, faulted, &movable);
    if (page_mask_equal(plan, &movable))
        return 0;
    return err_set(err,
                   "check violated: policy %s plans pages of the block at 0x%llx that are faulted, resident, thrashing "
                   "or outside of it",
                   policy->head.name, (unsigned long long)block->addr);
}
