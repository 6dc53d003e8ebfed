/* reserve: some chunks are kept free, behind the batches' backs.
 *
 * Rule. After each batch, while fewer than `chunks` are free, the least recently serviced block is evicted that is not
 * of that batch; the copies run while the GPU goes on, and a copy in waits only for the memory it goes to. What a batch
 * needs beyond them is evicted by the driver's way.
 * Example. chunks=2, none free: two blocks leave after the batch; the next one needs one and waits for nothing.
 * Source: gpgpu-sim_UVMSmart, commit bafab5d, percentage_of_free_page_buffer. Differs: a number of chunks, not a share;
 * there accesses, here services decide which block is cold. */
#include "models/uvm/uvm_evict.h"
#include "trace/base/param.h"

struct uvm_evict_reserve_state {
    int64_t chunks;
};

static const struct param params[] = {
    PARAM_INT_ROW(uvm_evict_reserve_state, chunks, "chunks", 1, 1e6, 8, "of 2 MiB, to be free after each batch"), {0}};

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    return uvm_evict_whole(view->requester == UVM_NO_BLOCK ? uvm_evict_outside_batch(view, false)
                                                           : uvm_evict_oldest(view));
}

static uint64_t keep_free(const void *state)
{
    return (uint64_t)((const struct uvm_evict_reserve_state *)state)->chunks;
}

const struct uvm_evict_policy uvm_evict_reserve = {
    .head = {.name = "reserve",
             .summary = "the driver's order; some chunks are freed after each batch, behind its back",
             .source = "gpgpu-sim_UVMSmart bafab5d, free-page buffer",
             .params = params,
             .state_size = sizeof(struct uvm_evict_reserve_state)},
    .pick = pick,
    .keep_free = keep_free};
