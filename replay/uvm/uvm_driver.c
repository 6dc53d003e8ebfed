#include "replay/uvm/uvm_driver.h"

#include <stdlib.h>
#include <string.h>

#include "models/uvm/prefetch/tree.h"
#include "trace/base/mem.h"

int uvm_driver_init(struct uvm_driver *d, struct uvm_memory *memory, const struct uvm_platform *platform,
                    const struct uvm_policy *policy, const void *policy_params, bool traced, struct err *err)
{
    *d = (struct uvm_driver){.memory = memory, .platform = platform, .policy = policy, .traced = traced};
    size_t max = (size_t)platform->batch_faults;
    d->sorted = mem_zalloc(2 * max, sizeof *d->sorted, err);
    d->blocks = mem_zalloc(max, sizeof *d->blocks, err);
    d->policy_state = mem_zalloc(1, policy->head.state_size, err);
    if (!d->sorted || !d->blocks || !d->policy_state)
        return -1;
    if (policy_params)
        memcpy(d->policy_state, policy_params, policy->head.state_size);
    else if (policy->head.params)
        param_defaults(policy->head.params, d->policy_state);
    return policy->init ? policy->init(d->policy_state, err) : 0;
}

void uvm_driver_release(struct uvm_driver *d)
{
    free(d->sorted);
    free(d->blocks);
    free(d->policy_state);
    *d = (struct uvm_driver){0};
}

/* Sort n page numbers, a byte at a time; `other` is scratch of the same size. Returns where they are. */
static const uint32_t *sort_pages(uint32_t *pages, uint32_t *other, uint32_t n)
{
    uint32_t differ = 0;
    for (uint32_t i = 1; i < n; i++)
        differ |= pages[i] ^ pages[0];
    for (unsigned shift = 0; shift < 32; shift += 8) {
        if (!(differ >> shift & 255))
            continue;
        uint32_t start[257] = {0};
        for (uint32_t i = 0; i < n; i++)
            start[(pages[i] >> shift & 255) + 1]++;
        for (unsigned i = 0; i < 256; i++)
            start[i + 1] += start[i];
        for (uint32_t i = 0; i < n; i++)
            other[start[pages[i] >> shift & 255]++] = pages[i];
        uint32_t *t = pages;
        pages = other;
        other = t;
    }
    return pages;
}

/* The CPU's and the copy engine's clocks within one batch. */
struct clocks {
    double cpu, copies;
};

/* The service of one block: `faulted` is not resident and not empty. */
static int service(struct uvm_driver *d, uint32_t number, const struct page_mask *faulted, struct clocks *at,
                   struct err *err)
{
    const struct uvm_platform *p = d->platform;
    struct uvm_memory_block *b = &d->memory->blocks[number];
    struct page_mask plan = {{0}}, moved, mapped, copied;
    d->policy->plan(d->policy_state, &b->block, faulted, &plan);
    unsigned faults = page_mask_count(faulted);
    at->cpu += p->service_ns + p->fault_page_ns * faults;
    double back_ns = 0;
    if (!b->chunk) {
        if (!b->known) {
            at->cpu += p->new_block_ns;
            d->work.new_blocks++;
        }
        struct uvm_evicted out;
        while (!uvm_memory_take_chunk(d->memory, number, &out)) {
            at->cpu += p->evict_ns;
            back_ns += (double)out.copied_pages * UVM_PAGE_BYTES / p->d2h_bytes_per_s * 1e9;
            d->records += out.runs;
            if (d->traced)
                back_ns += p->trace_record_ns * out.runs;
            d->batch.evictions++;
        }
    }
    page_mask_or(&moved, faulted, &plan);
    page_mask_and(&mapped, &moved, &b->host_mapped);
    unsigned moved_pages = page_mask_count(&moved), unmapped = page_mask_count(&mapped);
    unsigned moved_runs = page_mask_runs(&moved), unmapped_runs = page_mask_runs(&mapped);
    at->cpu += p->moved_page_ns * moved_pages + p->moved_run_ns * moved_runs + p->unmap_page_ns * unmapped +
               p->unmap_run_ns * unmapped_runs;
    d->work.moved_pages += moved_pages;
    d->work.moved_runs += moved_runs;
    d->work.unmapped_pages += unmapped;
    d->work.unmapped_runs += unmapped_runs;
    if (uvm_memory_migrate(d->memory, number, faulted, &plan, &copied, err))
        return -1;
    d->moved += moved_pages;
    d->faults += faults;
    double in_ns = 0;
    if (page_mask_any(&copied)) {
        struct page_mask part;
        page_mask_and(&part, &copied, faulted);
        unsigned records = page_mask_runs(&part);
        page_mask_and(&part, &copied, &plan);
        records += page_mask_runs(&part);
        d->records += records;
        unsigned runs = page_mask_runs(&copied);
        d->work.copied_runs += runs;
        in_ns = p->copy_run_ns * runs + (double)page_mask_count(&copied) * UVM_PAGE_BYTES / p->h2d_bytes_per_s * 1e9;
        if (d->traced)
            in_ns += p->trace_record_ns * records;
    }
    if (back_ns > 0 || in_ns > 0) {
        if (at->copies < at->cpu)
            at->copies = at->cpu;
        at->copies += back_ns + in_ns;
    }
    return 0;
}

int uvm_driver_batch(struct uvm_driver *d, const uint32_t *pages, uint32_t n, int64_t fetch_ns, int64_t *end_ns,
                     struct err *err)
{
    const struct uvm_platform *p = d->platform;
    memcpy(d->sorted, pages, n * sizeof *pages);
    const uint32_t *sorted = sort_pages(d->sorted, d->sorted + p->batch_faults, n);
    d->batch = (struct uvm_batch){.blocks = d->blocks, .total_chunks = d->memory->chunks};
    d->raw = n;
    d->faults = d->moved = 0;
    struct clocks at = {(double)fetch_ns + p->batch_before_ns + p->raw_fault_ns * n, d->copies_free_ns};
    for (uint32_t i = 0; i < n;) {
        uint32_t number = sorted[i] / ACTOR_BLOCK_PAGES, raw = 0;
        struct uvm_memory_block *b = &d->memory->blocks[number];
        struct page_mask faulted = {{0}};
        for (; i < n && sorted[i] / ACTOR_BLOCK_PAGES == number; i++, raw++)
            page_mask_set(&faulted, uvm_memory_page(b, sorted[i]));
        page_mask_andnot(&faulted, &faulted, &b->block.resident);
        if (!page_mask_any(&faulted))
            continue;
        uint32_t before = d->faults;
        if (service(d, number, &faulted, &at, err))
            return -1;
        d->blocks[d->batch.block_count++] = (struct uvm_batch_block){number, d->faults - before, raw};
    }
    d->copies_free_ns = at.copies;
    double end = (at.copies > at.cpu ? at.copies : at.cpu) + p->batch_after_ns;
    *end_ns = (int64_t)(end + 0.5);
    if (*end_ns <= fetch_ns)
        *end_ns = fetch_ns + 1; /* a platform without costs must still move on */
    d->batch.free_chunks = uvm_memory_free_chunks(d->memory);
    d->batches++;
    d->services += d->batch.block_count;
    d->raw_faults += n;
    return 0;
}

void uvm_driver_learn(struct uvm_driver *d, bool routine_end)
{
    d->batch.routine_end = routine_end;
    if (d->policy->learn)
        d->policy->learn(d->policy_state, &d->batch);
}

void uvm_driver_cpu_touch(struct uvm_driver *d, uint32_t page, int64_t time_ns, int64_t *end_ns)
{
    const struct uvm_platform *p = d->platform;
    uint32_t number = page / ACTOR_BLOCK_PAGES;
    struct uvm_memory_block *b = &d->memory->blocks[number];
    unsigned own = uvm_memory_page(b, page);
    *end_ns = time_ns;
    if (page_mask_test(&b->host_mapped, own))
        return;
    /* The tree counts what is resident on the destination: here the CPU. */
    struct uvm_block block = b->block;
    block.resident = b->host_valid;
    struct page_mask faulted = {{0}}, plan = {{0}};
    page_mask_set(&faulted, own);
    if (!page_mask_test(&b->host_valid, own))
        uvm_tree_plan(&block, &faulted, UVM_TREE_THRESHOLD, &plan);
    page_mask_or(&faulted, &faulted, &plan);
    uint32_t copied = uvm_memory_to_host(d->memory, number, &faulted);
    d->cpu_faults++;
    d->records += copied > 0;
    double ns = p->cpu_fault_ns + (double)copied * UVM_PAGE_BYTES / p->d2h_bytes_per_s * 1e9;
    *end_ns = time_ns + (int64_t)(ns + 0.5);
}
