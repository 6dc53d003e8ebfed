/* fixed: the plan of one granularity, as a function, for policies that choose the granularity. */
#ifndef MODELS_UVM_PREFETCH_FIXED_H
#define MODELS_UVM_PREFETCH_FIXED_H

#include "models/uvm/block.h"

/* Set *plan as uvm_policy.plan() says: the regions of `granularity_bytes` (a power of two, 4 KiB to 2 MiB) that hold a
 * faulted page, without the faulted, resident and thrashing ones. 4 KiB plans nothing. */
void uvm_fixed_plan(const struct uvm_block *block, const struct page_mask *faulted, int64_t granularity_bytes,
                    struct page_mask *plan) PLUGIN_API(uvm_fixed_plan);

#endif
