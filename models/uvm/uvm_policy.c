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
