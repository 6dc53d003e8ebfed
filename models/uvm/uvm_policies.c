#include <string.h>

#include "models/uvm/legacy.h"
#include "models/uvm/uvm_policy.h"

/* clang-format off */
#define UVM_POLICIES(ONE) \
    ONE(uvm_tree)         \
    ONE(uvm_fixed)        \
    ONE(uvm_adaptive)     \
    ONE(uvm_adaptive_literal) \
    ONE(uvm_none)
/* clang-format on */
#define POLICY(name) &name,
#define HEAD(name)   &name.head,

const struct uvm_policy *const uvm_policies[] = {UVM_POLICIES(POLICY) NULL};
const struct policy_head *const uvm_policy_heads[] = {UVM_POLICIES(HEAD) & uvm_mapped, NULL};

const struct uvm_policy *uvm_policy_of(const struct policy_head *head)
{
    for (size_t i = 0; uvm_policies[i]; i++)
        if (&uvm_policies[i]->head == head)
            return uvm_policies[i];
    return NULL;
}

const struct uvm_policy *uvm_policy_find(const char *name)
{
    for (size_t i = 0; uvm_policies[i]; i++)
        if (strcmp(uvm_policies[i]->head.name, name) == 0)
            return uvm_policies[i];
    return NULL;
}
