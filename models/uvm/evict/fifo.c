/* fifo: the block that has had its memory longest.
 *
 * Rule. The block whose memory was handed out first; services do not move it. With capacity=piece, the block that got
 * its first piece first; it gives up all.
 * Example. 3 chunks; services of A, B, C, A; then D needs one: A goes, although it was serviced last.
 * Source: the textbook's baseline. Differs: nothing known. */
#include "models/uvm/uvm_evict.h"

static uint32_t allocation_order(const void *state, const struct uvm_evict_view *view, uint32_t block)
{
    (void)state;
    return view->blocks[block].allocation_order;
}

const struct uvm_evict_policy uvm_evict_fifo = {.head = {.name = "fifo",
                                                         .summary = "the block that has had its memory longest",
                                                         .source = "textbook baseline",
                                                         .params = uvm_evict_plain_params,
                                                         .state_size = sizeof(struct uvm_evict_plain)},
                                                .pick = uvm_evict_pick_least,
                                                .key = allocation_order};
