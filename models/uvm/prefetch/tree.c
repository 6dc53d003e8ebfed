/* tree: the stock driver's prefetcher.
 *
 * Rule. Take the pages resident on the destination and this service's faulted pages; fill every 64 KiB region that
 * holds a faulted page (unless a page of it is thrashing). Over these pages stands a binary tree with 4 KiB leaves; a
 * node holds the pages of one aligned region, its size a power of two. For each faulted page, migrate the largest
 * region around it that is filled to strictly more than `threshold` percent, whether or not the regions in between are.
 * Pages chosen for one fault do not count for another (no cascade).
 *
 * Example. Regions 0-15 and 28 of 32 are resident, page 429 (region 26) faults. Filled: 18 of 32 = 56.25 % > 51 %, so
 * the whole block moves although the regions of 2, 4, 8 and 16 around the fault hold 1/2, 1/4, 2/8, 2/16: 512 - 17 * 16
 * - 1 = 239 pages besides the faulted one.
 *
 * Source: driver 545.23.06, uvm_perf_prefetch.c, compute_prefetch_region(), grow_fault_granularity(); the same in 535
 * to 595.
 * Differs: pages already resident are left out of the plan (the driver leaves them in: they do not move), which covers
 * its rule for pages mapped on the CPU; the preferred-location rule of driver 595 is the engine's. */

#include "models/uvm/uvm_policy.h"
#include "trace/base/param.h"

struct uvm_tree_state {
    int64_t threshold;
    int64_t min_faults;
};

static const struct param params[] = {
    {"threshold", PARAM_INT, "%", 0, 100, UVM_TREE_THRESHOLD, offsetof(struct uvm_tree_state, threshold),
     "a region moves when strictly more of it is resident or faulted (uvm_perf_prefetch_threshold)", NULL},
    {"min_faults", PARAM_INT, "", 1, 20, UVM_TREE_MIN_FAULTS, offsetof(struct uvm_tree_state, min_faults),
     "faulted pages a block must have seen before anything is prefetched (uvm_perf_prefetch_min_faults)", NULL},
    {0}};

/* One service: the filled pages and how many of them lie before each word. */
struct tree {
    struct page_mask filled;
    unsigned before[PAGE_MASK_WORDS + 1];
    unsigned end, root; /* leaves that exist; size of the root region */
    unsigned threshold;
};

static void fill_big_pages(struct tree *tree, const struct uvm_block *block, const struct page_mask *faulted)
{
    const struct page_mask *thrashing = block->thrashing;
    if (block->one_region) {
        page_mask_or(&tree->filled, &block->resident, faulted);
        if (!thrashing || page_mask_count_region(thrashing, 0, block->end) == 0)
            page_mask_set_region(&tree->filled, block->first, block->end);
        return;
    }
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++) {
        uint64_t big = page_mask_fill16(faulted->w[i]);
        if (thrashing)
            big &= ~page_mask_fill16(thrashing->w[i]);
        tree->filled.w[i] = block->resident.w[i] | faulted->w[i] | big;
    }
    if (block->first)
        tree->filled.w[0] &= ~0ull << block->first;
    if (block->end < UVM_BLOCK_PAGES)
        page_mask_clear_region(&tree->filled, block->end, UVM_BLOCK_PAGES);
}

/* Filled pages of the aligned region of `size` pages from `first` on. */
static unsigned count(const struct tree *tree, unsigned first, unsigned size)
{
    if (size >= 64)
        return tree->before[(first + size) >> 6] - tree->before[first >> 6];
    uint64_t in_region = ((1ull << size) - 1) << (first & 63);
    return (unsigned)__builtin_popcountll(tree->filled.w[first >> 6] & in_region);
}

/* Size of the largest qualifying region around `page`, 0 if none qualifies; *first is its start. */
static unsigned largest_region(const struct tree *tree, unsigned page, unsigned *first)
{
    for (unsigned size = tree->root; size; size /= 2) {
        *first = page & ~(size - 1);
        unsigned leaves = *first + size <= tree->end ? size : tree->end - *first;
        if (count(tree, *first, size) * 100 > leaves * tree->threshold)
            return size;
    }
    return 0;
}

/* The union of the largest qualifying regions around the pages of `seek`, which is used up. A page inside a region
 * already chosen needs no look: no larger region around it qualifies, or it would have been chosen. */
static void choose(const struct tree *tree, struct page_mask *seek, struct page_mask *chosen)
{
    page_mask_zero(chosen);
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++)
        while (seek->w[i]) {
            unsigned page = i * 64 + (unsigned)__builtin_ctzll(seek->w[i]), first;
            unsigned size = largest_region(tree, page, &first);
            if (size < 64) {
                uint64_t in_region = ((1ull << size) - 1) << (first & 63);
                chosen->w[i] |= in_region;
                seek->w[i] &= ~(in_region | 1ull << (page & 63));
                continue;
            }
            for (unsigned k = first >> 6; k < (first + size) >> 6; k++) {
                chosen->w[k] = ~0ull;
                seek->w[k] = 0;
            }
        }
}

void uvm_tree_plan(const struct uvm_block *block, const struct page_mask *faulted, int threshold,
                   struct page_mask *plan)
{
    if (!block->populated && block->preferred) {
        memset(plan, 0xFF, sizeof *plan);
        uvm_block_keep_movable(block, faulted, plan);
        return;
    }
    struct tree tree = {.end = block->end, .root = 1, .threshold = (unsigned)threshold};
    fill_big_pages(&tree, block, faulted);
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++)
        tree.before[i + 1] = tree.before[i] + (unsigned)__builtin_popcountll(tree.filled.w[i]);
    while (tree.root < tree.end)
        tree.root *= 2;
    struct page_mask seek = *faulted;
    if (block->thrashing)
        page_mask_andnot(&seek, faulted, block->thrashing);
    choose(&tree, &seek, plan);
    uvm_block_keep_movable(block, faulted, plan);
}

static void tree_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                      struct page_mask *plan)
{
    const struct uvm_tree_state *s = state;
    if (s->min_faults > 1 && block->fault_pages + page_mask_count(faulted) < (uint64_t)s->min_faults)
        page_mask_zero(plan);
    else
        uvm_tree_plan(block, faulted, (int)s->threshold, plan);
}

const struct uvm_policy uvm_tree = {
    .head = {.name = "tree",
             .summary = "the stock driver's prefetcher: the largest region more than 51 % full around each fault",
             .source = "driver 545.23.06, uvm_perf_prefetch.c, compute_prefetch_region()",
             .params = params,
             .state_size = sizeof(struct uvm_tree_state)},
    .plan = tree_plan,
    .stock = true};
