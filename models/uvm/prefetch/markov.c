/* markov: what followed a block's service the last time, brought with its next one.
 *
 * Rule. Within a block as the tree does. The blocks with faults, batch after batch and ascending in each, are one
 * sequence; each block remembers which other one came next in it, and which of its 64 KiB regions have faulted. When a
 * block faults, the regions known of its successor are asked for, then those of the successor's, `depth` blocks on.
 * Example. Blocks 4, 9, 6, 4 fault in turn: at the second 4 the regions of 9 that had faulted come along; with depth=2
 * those of 6 as well.
 * Source: Joseph, Grunwald: Prefetching using Markov predictors, ISCA 1997, with one successor; the footprint of a
 * region: Somogyi et al., Spatial memory streaming, ISCA 2006.
 * Differs: blocks of 2 MiB instead of cache lines; one successor, the last one seen. */
#include <stdlib.h>

#include "models/uvm/uvm_policy.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

struct known {
    uint32_t next;    /* + 1; 0: none yet */
    uint32_t regions; /* bit i: 64 KiB region i of the 2 MiB has faulted */
};

struct uvm_markov_state {
    int64_t depth;
    struct known *blocks; /* NULL: no batch yet */
    uint32_t last;        /* block of the sequence, + 1 */
};

static const struct param params[] = {
    PARAM_INT_ROW(uvm_markov_state, depth, "blocks", 1, 16, 1, "successors brought with a fault"), {0}};

static void plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                 struct page_mask *pages)
{
    (void)state;
    uvm_tree_plan(block, faulted, UVM_TREE_THRESHOLD, pages);
}

static void request(const struct uvm_markov_state *s, uint32_t block, struct uvm_prefetch_requests *requests)
{
    for (int64_t i = 0; i < s->depth && s->blocks[block].next; i++) {
        block = s->blocks[block].next - 1;
        for (uint32_t rest = s->blocks[block].regions; rest; rest &= rest - 1)
            for (unsigned page = 0; page < UVM_BIG_PAGES; page++)
                uvm_prefetch_request_add(requests, block * UVM_BLOCK_PAGES +
                                                       (uint32_t)__builtin_ctz(rest) * UVM_BIG_PAGES + page);
    }
}

static int prefetch_batch(void *state, const struct uvm_batch_faults *batch, struct uvm_prefetch_requests *requests,
                          struct err *err)
{
    struct uvm_markov_state *s = state;
    if (!s->blocks && !(s->blocks = mem_zalloc(batch->memory->block_count, sizeof *s->blocks, err)))
        return -1;
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t block = batch->pages[i] / UVM_BLOCK_PAGES;
        if (s->last != block + 1) {
            if (s->last)
                s->blocks[s->last - 1].next = block + 1;
            request(s, block, requests);
            s->last = block + 1;
        }
        s->blocks[block].regions |= 1u << batch->pages[i] % UVM_BLOCK_PAGES / UVM_BIG_PAGES;
    }
    return 0;
}

static void release(void *state)
{
    free(((struct uvm_markov_state *)state)->blocks);
}

const struct uvm_policy uvm_markov = {
    .head = {.name = "markov",
             .summary = "the tree's, and what the block that followed the last time had faulted on",
             .source = "Joseph and Grunwald, ISCA 1997; Somogyi et al., ISCA 2006",
             .params = params,
             .state_size = sizeof(struct uvm_markov_state)},
    .plan = plan,
    .prefetch_batch = prefetch_batch,
    .release = release};
