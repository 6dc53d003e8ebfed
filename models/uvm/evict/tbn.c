/* tbn: tree-based neighbourhood eviction (TBNe): a cold 64 KiB leaf, and what its tree says should go with it.
 *
 * Rule. Memory is handed out in leaves of 64 KiB. Blocks are ordered by their most recently serviced leaf, oldest
 * first; of the first that holds a leaf, the leaf serviced longest ago goes (equal ages: the lower number). Then the
 * block's tree, inner nodes before their parents: a node with some but less than half of its leaves valid loses them
 * all, and counts as empty from then on. A leaf is valid if it holds memory.
 * Example. Eight valid leaves of ages 0 < 1 < .. < 7, four evictions: {0}, {1}, {2, 3}, {4, 5, 6, 7}. Of 32 leaves by
 * age 1, 1, 2, 4, 8 and 16 go.
 * Source: Ganguly, Zhang, Yang, Melhem: Interplay between hardware prefetcher and page eviction policy in CPU-GPU
 * unified virtual memory, ISCA 2019; gpgpu-sim_UVMSmart, commit bafab5d, gpu-sim.cc, eviction policy 1.
 * Differs: age is the leaf's last service, as a driver sees no accesses; there a leaf is always whole, here it may hold
 * fewer than 16 pages (granularities under 64 KiB). */
#include "models/uvm/uvm_evict.h"

static const struct param params[] = {UVM_EVICT_CAPACITY_ROW(uvm_evict_plain, UVM_EVICT_PIECE), {0}};

static int init(void *state, struct err *err)
{
    const struct uvm_evict_plain *s = state;
    return s->capacity == UVM_EVICT_PIECE
               ? 0
               : err_set(err, "policy tbn: capacity is chunk; its leaves of 64 KiB need capacity=piece");
}

/* The leaves that go besides those no longer in `valid`. */
static uint32_t neighbours(uint32_t valid, unsigned leaves)
{
    uint32_t gone = 0;
    for (unsigned size = 2; size / 2 < leaves; size *= 2)
        for (unsigned first = 0; first < leaves; first += size) {
            unsigned end = first + size < leaves ? first + size : leaves;
            uint32_t below = (uint32_t)((1ull << end) - (1ull << first)) & (valid & ~gone);
            if (2 * (unsigned)__builtin_popcount(below) < end - first)
                gone |= below;
        }
    return gone;
}

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    uint32_t block = uvm_evict_oldest(view); /* the order of service is that of the most recently serviced leaves */
    if (block == UVM_NO_BLOCK)
        return uvm_evict_whole(block);
    const struct uvm_evict_block *b = &view->blocks[block];
    const uint32_t *age = &view->piece_age[(size_t)block * UVM_BLOCK_PIECES];
    unsigned coldest = (unsigned)__builtin_ctz(b->pieces);
    for (uint32_t rest = b->pieces; rest; rest &= rest - 1) {
        unsigned leaf = (unsigned)__builtin_ctz(rest);
        if (age[leaf] < age[coldest])
            coldest = leaf;
    }
    unsigned leaves = (b->block->end + UVM_BIG_PAGES - 1) / UVM_BIG_PAGES;
    uint32_t valid = b->pieces & ~(1u << coldest);
    return (struct uvm_victim){block, 1u << coldest | neighbours(valid, leaves)};
}

const struct uvm_evict_policy uvm_evict_tbn = {
    .head = {.name = "tbn",
             .summary = "the coldest 64 KiB leaf, and the leaves of every node that is then less than half full",
             .source = "Ganguly et al., ISCA 2019; gpgpu-sim_UVMSmart bafab5d, eviction policy 1",
             .params = params,
             .state_size = sizeof(struct uvm_evict_plain)},
    .init = init,
    .pick = pick};
