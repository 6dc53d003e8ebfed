/* stride: pages that continue a sequence of faults at one distance, also in blocks that did not fault.
 *
 * Rule. The distinct faulted pages of a batch are taken in ascending order. Each VA block has an entry: the last
 * faulted page, the distance from the one before, and how often in a row that was the same. A page whose distance has
 * come `confirm` times in a row asks for the next `degree` pages at that distance, wherever they lie, and hands the
 * entry on to the block that the next of them lies in. Nothing else comes with a fault. Example. confirm=2, degree=4;
 * pages 3, 10, 17, 24 fault, one after the other: distance 7 at 10, once more at 17, a second time at 24, which asks
 * for 31, 38, 45 and 52. Source: Baer, Chen: An effective on-chip preloading scheme to reduce data access penalty,
 * Supercomputing 1991: the reference prediction table and its steady state. Differs: an entry for each block instead of
 * each load instruction, as faults do not carry one; pages, not lines. */
#include <stdlib.h>

#include "models/uvm/uvm_policy.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

struct entry {
    uint32_t page; /* + 1; 0: none yet */
    int32_t distance;
    uint32_t times;
};

struct uvm_stride_state {
    int64_t confirm, degree;
    struct entry *entries; /* by block; NULL: no batch yet */
};

static const struct param params[] = {
    PARAM_INT_ROW(uvm_stride_state, confirm, "", 1, 100, 2, "how often in a row a distance must come again"),
    PARAM_INT_ROW(uvm_stride_state, degree, "pages", 1, 512, 16, "asked for at that distance"),
    {0}};

static void plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                 struct page_mask *pages)
{
    (void)state, (void)block, (void)faulted;
    page_mask_zero(pages);
}

/* Requests the next pages at the entry's distance, up to the end of the address space. */
static void request(const struct uvm_stride_state *s, const struct uvm_batch_faults *batch, const struct entry *e,
                    struct uvm_prefetch_requests *requests)
{
    int64_t page = (int64_t)e->page - 1, end = (int64_t)batch->memory->block_count * UVM_BLOCK_PAGES;
    for (int64_t i = 0; i < s->degree; i++) {
        page += e->distance;
        if (page < 0 || page >= end)
            return;
        uvm_prefetch_request_add(requests, (uint32_t)page);
    }
}

static int prefetch_batch(void *state, const struct uvm_batch_faults *batch, struct uvm_prefetch_requests *requests,
                          struct err *err)
{
    struct uvm_stride_state *s = state;
    if (!s->entries && !(s->entries = mem_zalloc(batch->memory->block_count, sizeof *s->entries, err)))
        return -1;
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t page = batch->pages[i];
        struct entry *e = &s->entries[page / UVM_BLOCK_PAGES];
        int32_t distance = e->page ? (int32_t)(page - (e->page - 1)) : 0;
        if (!e->page || !distance) {
            e->page = page + 1;
            continue;
        }
        e->times = distance == e->distance ? e->times + 1 : 0;
        e->distance = distance;
        e->page = page + 1;
        if (e->times < s->confirm)
            continue;
        request(s, batch, e, requests);
        int64_t next = (int64_t)page + distance;
        if (next >= 0 && next < (int64_t)batch->memory->block_count * UVM_BLOCK_PAGES)
            s->entries[next / UVM_BLOCK_PAGES] = *e;
    }
    return 0;
}

static void release(void *state)
{
    free(((struct uvm_stride_state *)state)->entries);
}

const struct uvm_policy uvm_stride = {.head = {.name = "stride",
                                               .summary = "the next pages of a sequence of faults at one distance",
                                               .source = "Baer and Chen, Supercomputing 1991",
                                               .params = params,
                                               .state_size = sizeof(struct uvm_stride_state)},
                                      .plan = plan,
                                      .prefetch_batch = prefetch_batch,
                                      .release = release};
