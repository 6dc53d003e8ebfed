/* policies: every policy of every engine, by name, in the order of `offchip list policies`. To add one, add its files
 * and a line here. Its struct is called ENGINE_NAME and declared below.
 *
 * These lists make uvm_policies[], uvm_evict_policies[], dram_policies[], placement_policies[] (models/policies.c) and,
 * followed by the baselines, the list of replay/zerocopy/zerocopy.c. */
#pragma once

#include "models/dram/dram_policy.h"
#include "models/placement/placement_policy.h"
#include "models/uvm/legacy.h"
#include "models/uvm/uvm_evict.h"
#include "models/uvm/uvm_policy.h"
#include "models/zerocopy/pattern.h"

/* clang-format off */
/* models/uvm/prefetch/: which pages of a VA block migrate besides the faulted ones; a stock driver's
 * options come first: of ties a verdict names the first. */
#define UVM_POLICIES(ONE)     \
    ONE(uvm_tree)             \
    ONE(uvm_none)             \
    ONE(uvm_fixed)            \
    ONE(uvm_adaptive)         \
    ONE(uvm_adaptive_literal) \
    ONE(uvm_stride)           \
    ONE(uvm_markov)

/* models/uvm/evict/: whose memory goes when none is free. */
#define UVM_EVICT_POLICIES(ONE) \
    ONE(uvm_evict_lru)          \
    ONE(uvm_evict_fifo)         \
    ONE(uvm_evict_random)       \
    ONE(uvm_evict_mru)          \
    ONE(uvm_evict_least_resident)       \
    ONE(uvm_evict_lfu)          \
    ONE(uvm_evict_tbn)          \
    ONE(uvm_evict_counter)      \
    ONE(uvm_evict_unobtrusive)  \
    ONE(uvm_evict_reserve)

/* models/dram/scheduler/: which mode a channel is in, and which request is next. */
#define DRAM_POLICIES(ONE)   \
    ONE(dram_fcfs)           \
    ONE(dram_mem_first)      \
    ONE(dram_pim_first)      \
    ONE(dram_frfcfs)         \
    ONE(dram_frfcfs_cap)     \
    ONE(dram_frfcfs_modecap) \
    ONE(dram_bliss)          \
    ONE(dram_frrr_fcfs)      \
    ONE(dram_gather_issue)   \
    ONE(dram_f3fs)

/* models/placement/: which memory a task gets. */
#define PLACEMENT_POLICIES(ONE) \
    ONE(placement_device)       \
    ONE(placement_managed)      \
    ONE(placement_pinned)       \
    ONE(placement_auto)         \
    ONE(placement_source)

/* models/zerocopy/pattern/: which requests the reads of a launch make. */
#define ZEROCOPY_PATTERNS(ONE) \
    ONE(zerocopy_naive)        \
    ONE(zerocopy_merged)       \
    ONE(zerocopy_aligned)      \
    ONE(zerocopy_shift)        \
    ONE(zerocopy_chunk)
/* clang-format on */

/* What an array of heads is made of. */
#define POLICY_HEAD(policy) &(policy).head,

#define DECLARE_UVM(policy)       extern const struct uvm_policy policy;
#define DECLARE_EVICT(policy)     extern const struct uvm_evict_policy policy;
#define DECLARE_DRAM(policy)      extern const struct dram_policy policy;
#define DECLARE_PLACEMENT(policy) extern const struct placement_policy policy;
#define DECLARE_PATTERN(policy)   extern const struct zerocopy_pattern policy;
UVM_POLICIES(DECLARE_UVM)
UVM_EVICT_POLICIES(DECLARE_EVICT)
DRAM_POLICIES(DECLARE_DRAM)
PLACEMENT_POLICIES(DECLARE_PLACEMENT)
ZEROCOPY_PATTERNS(DECLARE_PATTERN)
