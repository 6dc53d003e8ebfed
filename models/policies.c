/* The policies of every engine. A new one is its files, its name in a header and a line here. */
#include "models/dram/scheduler/schedulers.h"
#include "models/placement/placement_policy.h"
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

const struct dram_policy *const dram_policies[] = {&dram_fcfs,
                                                   &dram_mem_first,
                                                   &dram_pim_first,
                                                   &dram_frfcfs,
                                                   &dram_frfcfs_cap,
                                                   &dram_frfcfs_modecap,
                                                   &dram_bliss,
                                                   &dram_frrr_fcfs,
                                                   &dram_gather_issue,
                                                   &dram_f3fs,
                                                   NULL};

const struct policy_head *const dram_policy_heads[] = {&dram_fcfs.head,
                                                       &dram_mem_first.head,
                                                       &dram_pim_first.head,
                                                       &dram_frfcfs.head,
                                                       &dram_frfcfs_cap.head,
                                                       &dram_frfcfs_modecap.head,
                                                       &dram_bliss.head,
                                                       &dram_frrr_fcfs.head,
                                                       &dram_gather_issue.head,
                                                       &dram_f3fs.head,
                                                       NULL};

const struct placement_policy *const placement_policies[] = {&placement_device, &placement_managed, &placement_pinned,
                                                             &placement_auto, NULL};
