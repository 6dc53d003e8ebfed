/* lfu: the block least frequently used, as far as a driver knows.
 *
 * Rule. Fewest notifications of access counters, counted since the start of the run, or fewest services where a block
 * has none of the former; equal ones: least recently serviced.
 * Example. A serviced three times, then B once, then C once: B goes, then C, A last.
 * Source: gpgpu-sim_UVMSmart, commit bafab5d, gpu-sim.cc, eviction policy 4 (access frequency).
 * Differs: it counts every access and prefers blocks that were not written; a driver sees neither. */
#include "models/uvm/uvm_evict.h"

static uint32_t frequency(const void *state, const struct uvm_evict_view *view, uint32_t block)
{
    (void)state;
    const struct uvm_evict_block *b = &view->blocks[block];
    return b->notifications ? b->notifications : b->services;
}

const struct uvm_evict_policy uvm_evict_lfu = {.head = {.name = "lfu",
                                                        .summary = "the block serviced, or notified of, least often",
                                                        .source = "gpgpu-sim_UVMSmart bafab5d, eviction policy 4",
                                                        .params = uvm_evict_plain_params,
                                                        .state_size = sizeof(struct uvm_evict_plain)},
                                               .pick = uvm_evict_pick_least,
                                               .key = frequency};
