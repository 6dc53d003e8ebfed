/* fixed: one migration granularity for every fault.
 *
 * Rule. Migrate the aligned region of `granularity` bytes around each faulted page, cut to the block, as far as it is
 * not resident. 4 KiB moves the faulted pages alone: there is no 64 KiB fill.
 *
 * Example. Granularity 64 KiB, pages 3, 5 and 40 fault, page 4 is resident: regions 0-15 and 32-47, so the plan is
 * 16 - 3 + 15 = 28 pages.
 *
 * Source: "Adaptive Prefetch-Granularity Management" (lee-2026), sections II and IV (4 KB and 2 MB migration); stock
 * hardware does the same with uvm_perf_prefetch_enable=0 (4 KiB), _threshold=99 (64 KiB) and _threshold=0 (2 MiB).
 * Differs: thrashing pages are left out, as the driver does for its own prefetcher; the paper is silent on them. */

#include "models/uvm/uvm_policy.h"
#include "trace/base/param.h"

struct uvm_fixed_state {
    int64_t granularity;
};

static const struct param params[] = {
    PARAM_BYTES_ROW(uvm_fixed_state, granularity, UVM_PAGE_BYTES, UVM_BLOCK_BYTES, UVM_BLOCK_BYTES,
                    "size of the aligned region moved around each faulted page; a power of two"),
    {0}};

/* The regions of `size` pages that hold a faulted page; page 0 lies block->offset pages above the boundary. */
static void regions(const struct uvm_block *block, const struct page_mask *faulted, unsigned size,
                    struct page_mask *out)
{
    page_mask_zero(out);
    unsigned page = page_mask_next(faulted, 0);
    while (page < PAGE_MASK_PAGES) {
        unsigned start = (page + block->offset) / size * size;
        unsigned end = start + size - block->offset;
        page_mask_set_region(out, start > block->offset ? start - block->offset : 0, end);
        page = page_mask_next(faulted, end < PAGE_MASK_PAGES ? end : PAGE_MASK_PAGES);
    }
}

void uvm_fixed_plan(const struct uvm_block *block, const struct page_mask *faulted, int64_t granularity_bytes,
                    struct page_mask *plan)
{
    unsigned size = (unsigned)(granularity_bytes / UVM_PAGE_BYTES);
    if (size == 1) {
        page_mask_zero(plan);
        return;
    }
    if (size >= UVM_BLOCK_PAGES) {
        memset(plan, 0xFF, sizeof *plan);
    } else if (size == UVM_BIG_PAGES && block->offset % UVM_BIG_PAGES == 0) {
        for (unsigned i = 0; i < PAGE_MASK_WORDS; i++)
            plan->w[i] = page_mask_fill16(faulted->w[i]);
    } else {
        regions(block, faulted, size, plan);
    }
    uvm_block_keep_movable(block, faulted, plan);
}

static int fixed_init(void *state, struct err *err)
{
    int64_t g = ((const struct uvm_fixed_state *)state)->granularity;
    if (g & (g - 1))
        return err_set(err,
                       "policy fixed: granularity is %lld bytes; expected a power of two from 4KiB to 2MiB (64KiB is "
                       "one, 64KB is 64000 bytes)",
                       (long long)g);
    return 0;
}

static void fixed_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                       struct page_mask *plan)
{
    uvm_fixed_plan(block, faulted, ((const struct uvm_fixed_state *)state)->granularity, plan);
}

static int64_t fixed_granularity(const void *state)
{
    return ((const struct uvm_fixed_state *)state)->granularity;
}

const struct uvm_policy uvm_fixed = {
    .head = {.name = "fixed",
             .summary = "the aligned region of one size around each faulted page",
             .source = "lee-2026, sections II and IV; driver 545.23.06 with prefetch off or threshold 99 or 0",
             .params = params,
             .state_size = sizeof(struct uvm_fixed_state),
             .label_param = "granularity",
             .fixed = true},
    .init = fixed_init,
    .plan = fixed_plan,
    .granularity = fixed_granularity};
