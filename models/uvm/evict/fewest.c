/* fewest: the block with the fewest resident pages.
 *
 * Rule. Least resident pages; equal ones: least recently serviced. It is the cheapest to copy back.
 * Example. A holds 512 pages, B 16 and C 16, serviced in the order C, B: C goes, 16 pages back.
 * Source: ours, a greedy baseline. Differs: nothing known. */
#include "models/uvm/uvm_evict.h"

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    uint32_t best = UVM_NO_BLOCK;
    UVM_EVICT_EACH(b, view)
    if (best == UVM_NO_BLOCK || view->blocks[b].resident < view->blocks[best].resident)
        best = b;
    return uvm_evict_whole(best);
}

const struct uvm_evict_policy uvm_evict_fewest = {.head = {.name = "fewest",
                                                           .summary = "the block with the fewest resident pages",
                                                           .source = "ours, cheapest to copy back",
                                                           .params = uvm_evict_plain_params,
                                                           .state_size = sizeof(struct uvm_evict_plain)},
                                                  .pick = pick};
