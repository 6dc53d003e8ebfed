/* least-resident: the block with the fewest resident pages.
 *
 * Rule. Least resident pages; equal ones: least recently serviced. It is the cheapest to copy back.
 * Example. A holds 512 pages, B 16 and C 16, serviced in the order C, B: C goes, 16 pages back.
 * Source: ours, a greedy baseline. Differs: nothing known. */
#include "models/uvm/uvm_evict.h"

static uint32_t resident(const void *state, const struct uvm_evict_view *view, uint32_t block)
{
    (void)state;
    return view->blocks[block].resident;
}

const struct uvm_evict_policy uvm_evict_least_resident = {
    .head = {.name = "least-resident",
             .summary = "the block with the fewest resident pages",
             .source = "ours, cheapest to copy back",
             .params = uvm_evict_plain_params,
             .state_size = sizeof(struct uvm_evict_plain)},
    .pick = uvm_evict_pick_least,
    .key = resident};
