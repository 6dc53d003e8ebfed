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
#include "models/uvm/tree.h"

#include "models/uvm/uvm_policy.h"

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

/* One service: the filled pages with their counts per word, the pages whose region is sought, and what was chosen. */
struct tree {
    struct page_mask filled;
    struct page_mask seek;
    unsigned before[PAGE_MASK_WORDS + 1]; /* filled pages before each word */
    unsigned end;
    unsigned threshold;
    struct page_mask chosen;
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

/* The largest qualifying regions within [first, first + size), size a multiple of 64. */
static void choose_words(struct tree *tree, unsigned first, unsigned size);

/* The same for size <= 64: in_region are the bits of its word that belong to it. */
static void choose_bits(struct tree *tree, unsigned first, unsigned size)
{
    unsigned word = first >> 6;
    uint64_t in_region = (size == 64 ? ~0ull : (1ull << size) - 1) << (first & 63);
    uint64_t seek = tree->seek.w[word] & in_region;
    if (!seek)
        return;
    unsigned leaves = first + size <= tree->end ? size : tree->end - first;
    unsigned count = (unsigned)__builtin_popcountll(tree->filled.w[word] & in_region);
    if (count * 100 > leaves * tree->threshold) {
        tree->chosen.w[word] |= in_region;
        return;
    }
    if (size == 1)
        return;
    choose_bits(tree, first, size / 2);
    choose_bits(tree, first + size / 2, size / 2);
}

static void choose_words(struct tree *tree, unsigned first, unsigned size)
{
    if (size <= 64) {
        choose_bits(tree, first, size);
        return;
    }
    unsigned from = first >> 6, to = (first + size) >> 6;
    uint64_t seek = 0;
    for (unsigned i = from; i < to; i++)
        seek |= tree->seek.w[i];
    if (!seek)
        return;
    unsigned leaves = first + size <= tree->end ? size : tree->end - first;
    unsigned count = tree->before[to] - tree->before[from];
    if (count * 100 > leaves * tree->threshold) {
        for (unsigned i = from; i < to; i++)
            tree->chosen.w[i] = ~0ull;
        return;
    }
    choose_words(tree, first, size / 2);
    choose_words(tree, first + size / 2, size / 2);
}

/* What may be prefetched of `pages`: in the block, not resident, faulted or thrashing. */
static void keep_movable(const struct uvm_block *block, const struct page_mask *faulted, struct page_mask *pages)
{
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++)
        pages->w[i] &= page_mask_region_word(i, block->first, block->end) & ~faulted->w[i] & ~block->resident.w[i];
    if (block->thrashing)
        page_mask_andnot(pages, pages, block->thrashing);
}

void uvm_tree_plan(const struct uvm_block *block, const struct page_mask *faulted, int threshold,
                   struct page_mask *plan)
{
    if (!block->populated && block->preferred) {
        memset(plan, 0xFF, sizeof *plan);
        keep_movable(block, faulted, plan);
        return;
    }
    struct tree tree;
    fill_big_pages(&tree, block, faulted);
    tree.seek = *faulted;
    if (block->thrashing)
        page_mask_andnot(&tree.seek, faulted, block->thrashing);
    tree.before[0] = 0;
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++)
        tree.before[i + 1] = tree.before[i] + (unsigned)__builtin_popcountll(tree.filled.w[i]);
    tree.end = block->end;
    tree.threshold = (unsigned)threshold;
    page_mask_zero(&tree.chosen);
    unsigned root = 1;
    while (root < tree.end)
        root *= 2;
    choose_words(&tree, 0, root);
    *plan = tree.chosen;
    keep_movable(block, faulted, plan);
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
    .plan = tree_plan};
