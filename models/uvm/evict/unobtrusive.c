/* unobtrusive: the driver's order, but evictions start before they are waited for.
 *
 * Rule. If a batch needs n chunks and f < n are free, n - f blocks are chosen when it has been fetched, least recently
 * serviced first, none of the current batch. Eviction i + 1 runs on the outbound copy engine while copy-in i runs on
 * the inbound one; only a copy in waits, for the memory it goes to. What still lacks is evicted by the driver's way.
 * Example. Three services need a chunk each, copies in and out take 40 us, the CPU 30 us before the first copy: out
 * 0-40, 40-80, 80-120, in 40-80, 80-120, 120-160; the driver takes 190 us, with one engine for both ways 270.
 * Source: Kim, Sim, Gera, Hadidi, Kim: Batch-aware unified memory management in GPUs for irregular workloads, ASPLOS
 * 2020, "unobtrusive eviction", as recalled: the text has not been checked. Differs: the paper's other half, more
 * resident blocks than fit, is a property of the workload, not of eviction. */
#include "models/uvm/uvm_evict.h"

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    return uvm_evict_whole(uvm_evict_outside_batch(view, false));
}

static uint64_t before_batch(void *state, const struct uvm_evict_view *view, uint64_t needed)
{
    (void)state;
    uint64_t spare = view->free_pieces / UVM_BLOCK_PIECES;
    return needed > spare ? needed - spare : 0;
}

const struct uvm_evict_policy uvm_evict_unobtrusive = {
    .head = {.name = "unobtrusive",
             .summary = "the driver's order; a batch's evictions start when it is fetched, beside the copies in",
             .source = "Kim et al., ASPLOS 2020, unobtrusive eviction, as recalled"},
    .pick = pick,
    .before_batch = before_batch};
