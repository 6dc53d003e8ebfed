#include "models/policies.h"

const struct policy_head *const uvm_policies[] = {UVM_POLICIES(POLICY_HEAD) & uvm_pinned, NULL};
const struct policy_head *const uvm_evict_policies[] = {UVM_EVICT_POLICIES(POLICY_HEAD) NULL};
const struct policy_head *const dram_policies[] = {DRAM_POLICIES(POLICY_HEAD) NULL};
const struct policy_head *const placement_policies[] = {PLACEMENT_POLICIES(POLICY_HEAD) NULL};

const struct dram_policy *dram_policy_alone_baseline(void)
{
    size_t i = 0;
    while (!((const struct dram_policy *)dram_policies[i])->alone_baseline)
        i++;
    return (const struct dram_policy *)dram_policies[i];
}
