/* fifo: the block that has had its memory longest.
 *
 * Rule. The block whose memory was handed out first; services do not move it. With capacity=piece, the block that got
 * its first piece first; it gives up all.
 * Example. 3 chunks; services of A, B, C, A; then D needs one: A goes, although it was serviced last.
 * Source: the textbook's baseline. Differs: nothing known. */
#include "models/uvm/uvm_evict.h"

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    uint32_t best = UVM_NO_BLOCK;
    UVM_EVICT_EACH(b, view)
    if (best == UVM_NO_BLOCK || view->blocks[b].arrived < view->blocks[best].arrived)
        best = b;
    return uvm_evict_whole(best);
}

const struct uvm_evict_policy uvm_evict_fifo = {.head = {.name = "fifo",
                                                         .summary = "the block that has had its memory longest",
                                                         .source = "textbook baseline",
                                                         .params = uvm_evict_plain_params,
                                                         .state_size = sizeof(struct uvm_evict_plain)},
                                                .pick = pick};
