/* block: one VA block, as a prefetch policy sees it.
 *
 * A VA block is a 2 MiB-aligned stretch of address space, cut by the edges of its allocation. Pages are numbered so
 * that 64 KiB regions fall on multiples of 16: page 0 is the 64 KiB boundary at or below the block's start. The block's
 * pages are [first, end); pages below `first` do not exist (the driver's tree has ghost leaves there). A block without
 * a whole 64 KiB region is one region, with first = 0. Source: driver 545.23.06, uvm_perf_prefetch.c,
 * init_bitmap_tree_from_region() and grow_fault_granularity(). */
#pragma once

#include <assert.h>

#include "models/uvm/page_mask.h"
#include "trace/base/err.h"

/* Source: x86-64 page; GPU big page (driver 595 UVM_PAGE_SIZE_64K, earlier from the page tables); UVM_VA_BLOCK_SIZE. */
enum {
    UVM_PAGE_BYTES = 4096,
    UVM_BIG_BYTES = 65536,
    UVM_BIG_PAGES = UVM_BIG_BYTES / UVM_PAGE_BYTES,
    UVM_BLOCK_BYTES = 2097152,
    UVM_BLOCK_PAGES = UVM_BLOCK_BYTES / UVM_PAGE_BYTES
};

struct uvm_block {
    struct page_mask resident;         /* pages resident on the destination before this service */
    const struct page_mask *thrashing; /* pages held back by the thrashing heuristic; NULL: none */
    uint64_t addr;                     /* byte address of page 0 */
    uint32_t fault_pages; /* pages serviced as faulted since migrations last changed destination, before this service */
    uint16_t first, end;  /* the block's pages: [first, end), 0 <= first < 16, first < end <= 512 */
    uint16_t offset;      /* pages between the 2 MiB boundary below and page 0; 0 for a full block */
    bool one_region;      /* no whole 64 KiB region: the block counts as one */
    bool populated;       /* some page is resident on some processor */
    bool preferred;       /* the destination is the allocation's preferred location */
};

/* The number of the 2 MiB-aligned stretch an address lies in. */
static inline uint64_t uvm_block_number(uint64_t addr)
{
    return addr / UVM_BLOCK_BYTES;
}

/* The block that holds the bytes [start, end) of one allocation: nothing resident, populated, not preferred.
 * start < end, both page-aligned, in one 2 MiB-aligned stretch (asserted). */
static inline void uvm_block_init(struct uvm_block *block, uint64_t start, uint64_t end)
{
    assert(start < end && start % UVM_PAGE_BYTES == 0 && end % UVM_PAGE_BYTES == 0);
    assert(uvm_block_number(start) == uvm_block_number(end - 1));
    uint64_t big_first = (start + UVM_BIG_BYTES - 1) / UVM_BIG_BYTES * UVM_BIG_BYTES;
    uint64_t big_end = end / UVM_BIG_BYTES * UVM_BIG_BYTES;
    bool one_region = big_first >= big_end;
    uint64_t base = one_region ? start : start / UVM_BIG_BYTES * UVM_BIG_BYTES;
    *block = (struct uvm_block){.addr = base,
                                .first = (uint16_t)((start - base) / UVM_PAGE_BYTES),
                                .end = (uint16_t)((end - base) / UVM_PAGE_BYTES),
                                .offset = (uint16_t)(base % UVM_BLOCK_BYTES / UVM_PAGE_BYTES),
                                .one_region = one_region,
                                .populated = true};
}

static inline unsigned uvm_block_page(const struct uvm_block *block, uint64_t addr)
{
    return (unsigned)((addr - block->addr) / UVM_PAGE_BYTES);
}

static inline uint64_t uvm_block_addr(const struct uvm_block *block, unsigned page)
{
    return block->addr + (uint64_t)page * UVM_PAGE_BYTES;
}

/* Take out of `pages` what cannot be prefetched: faulted, resident and thrashing pages, and pages outside the block. */
static inline void uvm_block_keep_movable(const struct uvm_block *block, const struct page_mask *faulted,
                                          struct page_mask *pages)
{
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++)
        pages->w[i] &= ~(faulted->w[i] | block->resident.w[i]);
    if (block->thrashing)
        page_mask_andnot(pages, pages, block->thrashing);
    if (block->first)
        pages->w[0] &= ~0ull << block->first;
    if (block->end < UVM_BLOCK_PAGES)
        page_mask_clear_region(pages, block->end, UVM_BLOCK_PAGES);
}
