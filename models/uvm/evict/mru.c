/* mru: the block most recently serviced.
 *
 * Rule. The tail of the order of service, without blocks of the current batch; if these have all the memory, its head.
 * Example. A cyclic sweep over blocks 0 to 4 with 4 chunks, one page of one block per batch, 3 rounds: lru misses every
 * time, 15 services and 11 evictions; mru keeps what the next round needs, 9 services and 5 evictions.
 * Source: the textbook's, best for cyclic sweeps over more than fits. Differs: nothing known. */
#include "models/uvm/uvm_evict.h"

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    return uvm_evict_whole(uvm_evict_outside_batch(view, true));
}

const struct uvm_evict_policy uvm_evict_mru = {
    .head = {.name = "mru",
             .summary = "the block most recently serviced, the current batch left out",
             .source = "textbook, for cyclic sweeps",
             .params = uvm_evict_plain_params,
             .state_size = sizeof(struct uvm_evict_plain)},
    .pick = pick};
