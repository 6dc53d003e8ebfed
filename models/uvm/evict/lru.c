/* lru: the driver's own choice, the block least recently serviced.
 *
 * Rule. The head of the list of used chunks. A block goes to its tail when it gets memory and at every service;
 * accesses of the GPU move nothing, as no accessed bit is read. Example. 3 chunks; services of A, B, C, A; then D needs
 * one: B goes, and the order is C, A, D. Source: driver 525.60.13 to 595.45.04, uvm_pmm_gpu.c,
 * pick_root_chunk_to_evict(). Differs: with capacity=piece a block has only the 64 KiB pieces it needs. */
#include "models/uvm/uvm_evict.h"

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    return uvm_evict_whole(uvm_evict_oldest(view));
}

const struct uvm_evict_policy uvm_evict_lru = {
    .head = {.name = "lru",
             .summary = "the driver's: the block least recently serviced",
             .source = "driver 525 to 595, uvm_pmm_gpu.c, pick_root_chunk_to_evict()",
             .params = uvm_evict_plain_params,
             .state_size = sizeof(struct uvm_evict_plain)},
    .pick = pick,
    .stock = true};
