#include <string.h>

#include "models/uvm/uvm_policy.h"

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
