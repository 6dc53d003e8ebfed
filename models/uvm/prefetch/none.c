/* none: no prefetch at all; only the faulted pages move.
 *
 * Rule. The plan is empty, whatever faulted. Example. One fault a page: 512 faults to fill a block.
 * Source: driver 545.23.06, uvm_perf_prefetch_enable=0. Differs: nothing known. */
#include "models/uvm/uvm_policy.h"

static void none_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                      struct page_mask *plan)
{
    (void)state, (void)block, (void)faulted;
    page_mask_zero(plan);
}

static int64_t none_granularity(const void *state)
{
    (void)state;
    return UVM_PAGE_BYTES;
}

const struct uvm_policy uvm_none = {.head = {.name = "none",
                                             .summary = "no prefetch: only the faulted pages move",
                                             .source = "driver 545.23.06, uvm_perf_prefetch_enable=0",
                                             .fixed = true},
                                    .plan = none_plan,
                                    .granularity = none_granularity};
