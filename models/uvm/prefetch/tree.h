/* tree: the prefetcher of the stock driver, as a function, for those who need its decision without a policy list
 * (CPU faults, verification of a recording). */
#ifndef MODELS_UVM_PREFETCH_TREE_H
#define MODELS_UVM_PREFETCH_TREE_H

#include "models/uvm/block.h"

/* Source: driver 545.23.06, uvm_perf_prefetch.c: UVM_PREFETCH_THRESHOLD_DEFAULT, uvm_perf_prefetch_min_faults. */
enum { UVM_TREE_THRESHOLD = 51, UVM_TREE_MIN_FAULTS = 1 };

/* Set *plan as uvm_policy.plan() says. threshold: percent, 0 to 100; a region qualifies strictly above it. */
void uvm_tree_plan(const struct uvm_block *block, const struct page_mask *faulted, int threshold,
                   struct page_mask *plan) PLUGIN_API(uvm_tree_plan);

#endif
