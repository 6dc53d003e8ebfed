#include "replay/uvm/uvm_driver.h"

#include <stdlib.h>
#include <string.h>

#include "models/uvm/uvm_policy.h"
#include "replay/uvm/uvm_memory.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/sorted.h"

/* The CPU's and the copy engines' clocks within one batch. */
struct clocks {
    double cpu, copies, out;
};

/* What making room for a service came to. */
struct eviction_cost {
    double back_ns;  /* of the engine for all copies */
    double ready_ns; /* when the memory may be written; 0: at once */
};

int uvm_driver_init(struct uvm_driver *d, struct uvm_memory *memory, const struct uvm_platform *platform,
                    const struct uvm_policy *policy, const void *policy_params, bool traced, struct err *err)
{
    *d = (struct uvm_driver){.memory = memory, .platform = platform, .traced = traced};
    size_t max = (size_t)platform->batch_faults;
    d->sorted = mem_zalloc(2 * max, sizeof *d->sorted, err);
    d->blocks = mem_zalloc(max, sizeof *d->blocks, err);
    d->written = mem_zalloc(max, sizeof *d->written, err);
    d->replays = mem_zalloc(max, sizeof *d->replays, err);
    d->policy_state = mem_zalloc(1, policy->head.state_size, err);
    d->requests.pages = policy->prefetch_batch
                            ? mem_zalloc((size_t)2 * UVM_PREFETCH_REQUESTS_MAX, sizeof *d->requests.pages, err)
                            : NULL;
    if (policy->prefetch_batch && !d->requests.pages)
        return -1;
    if (!d->sorted || !d->blocks || !d->written || !d->replays || !d->policy_state)
        return -1;
    if (policy_params)
        memcpy(d->policy_state, policy_params, policy->head.state_size);
    else if (policy->head.params)
        param_defaults(policy->head.params, d->policy_state);
    d->policy = policy; /* from here on its state can be released */
    return policy->init ? policy->init(d->policy_state, err) : 0;
}

void uvm_driver_release(struct uvm_driver *d)
{
    free(d->sorted);
    free(d->blocks);
    free(d->written);
    free(d->replays);
    free(d->requests.pages);
    if (d->policy && d->policy->release && d->policy_state)
        d->policy->release(d->policy_state);
    free(d->policy_state);
    free(d->early);
    free(d->arrivals);
    free(d->pinned);
    uvm_thrashing_release(&d->thrashing);
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

/* --- memory for what comes: evictions on the way of a batch, before and behind it --- */

/* What an eviction costs the copy engine, added to *ns; `from_ns`: when *ns was 0. */
static void copy_back(struct uvm_driver *d, const struct uvm_evicted *out, double *ns, double from_ns)
{
    double start = from_ns + *ns;
    const struct uvm_platform *p = d->platform;
    d->records += out->runs;
    d->batch.evictions++;
    *ns += (double)out->copied_pages * UVM_PAGE_BYTES / p->d2h_bytes_per_s * 1e9;
    if (d->traced)
        *ns += p->trace_record_ns * out->runs;
    if (d->observer && out->copied_pages)
        d->observer->moved(d->observer->ctx, &(struct uvm_move){.kind = RECORD_MIGRATE_D2H,
                                                                .block = &d->memory->blocks[out->number].block,
                                                                .pages = &out->copied,
                                                                .cause = RECORD_CAUSE_EVICTION,
                                                                .start_ns = start,
                                                                .end_ns = from_ns + *ns});
}

/* Evict before anybody waits for it, at `at_ns` of the engine for copies out. 1, 0 if the policy gives nothing, -1. */
static int evict_early(struct uvm_driver *d, double at_ns, double *out_ns, struct err *err)
{
    struct uvm_evicted out;
    if (mem_grow((void **)&d->early, &d->early_cap, d->early_head + d->early_count + 1, sizeof *d->early, err))
        return -1;
    int rc = uvm_memory_evict_early(d->memory, &out, err);
    if (rc <= 0)
        return rc;
    if (*out_ns < at_ns)
        *out_ns = at_ns;
    copy_back(d, &out, out_ns, 0);
    d->early[d->early_head + d->early_count++] = (struct uvm_early){*out_ns, out.pieces};
    d->early_pieces += out.pieces;
    return 1;
}

/* So many pieces were taken, of `spare` that were free: when the last of them is there that an early eviction frees. */
static double claim(struct uvm_driver *d, uint64_t taken, uint64_t spare)
{
    double ready = 0;
    uint64_t clean = spare - d->early_pieces;
    for (uint64_t lack = taken > clean ? taken - clean : 0; lack && d->early_count;) {
        struct uvm_early *e = &d->early[d->early_head];
        uint32_t part = e->pieces < lack ? e->pieces : (uint32_t)lack;
        ready = e->ready_ns;
        e->pieces -= part;
        d->early_pieces -= part;
        lack -= part;
        if (!e->pieces) {
            d->early_head++;
            d->early_count--;
        }
    }
    if (!d->early_count)
        d->early_head = 0;
    return ready;
}

/* What a block of the batch costs before its pages: less where the GPU has used it before. */
static double begin_ns(const struct uvm_driver *d, uint32_t number)
{
    return d->memory->blocks[number].dma_mapped ? d->platform->service_again_ns : d->platform->service_ns;
}

/* Memory for the pages `come` of a block, evicting as needed. */
static int make_room(struct uvm_driver *d, uint32_t number, const struct page_mask *come, struct clocks *at,
                     struct eviction_cost *room, struct err *err)
{
    const struct uvm_platform *p = d->platform;
    struct uvm_memory_block *b = &d->memory->blocks[number];
    *room = (struct eviction_cost){0};
    if (!b->dma_mapped) {
        at->cpu += p->new_block_ns;
        d->work.new_blocks++;
    }
    struct uvm_evicted out;
    uint32_t pieces;
    uint64_t spare = d->memory->view.free_pieces;
    int rc;
    while ((rc = uvm_memory_take(d->memory, number, come, &pieces, &out, err)) == 0) {
        at->cpu +=
            p->evict_ns + (out.more ? 0 : p->service_again_ns); /* the lock was dropped: the service begins anew */
        spare = d->memory->view.free_pieces;
        if (!d->two_engines) {
            copy_back(d, &out, &room->back_ns, at->copies > at->cpu ? at->copies : at->cpu);
            continue;
        }
        if (at->out < at->cpu)
            at->out = at->cpu;
        copy_back(d, &out, &at->out, 0);
        room->ready_ns = at->out;
    }
    if (rc > 0 && d->early_count) {
        double ready = claim(d, pieces, spare);
        if (room->ready_ns < ready)
            room->ready_ns = ready;
    }
    return rc < 0 ? -1 : 0;
}

/* Tells the eviction policy what the batch of n sorted pages needs; evicts what it wants evicted at once. */
static int evict_ahead(struct uvm_driver *d, const uint32_t *sorted, uint32_t n, struct clocks *at, struct err *err)
{
    struct uvm_memory *m = d->memory;
    const struct uvm_evict_policy *e = m->evict;
    uint64_t needed = 0;
    if ((!m->chunks || e->stock) && !d->policy->prefetch_batch)
        return 0;
    for (uint32_t i = 0, last = UVM_NO_BLOCK; i < n; i++) {
        uint32_t number = sorted[i] / ACTOR_BLOCK_PAGES;
        if (number == last)
            continue;
        last = number;
        m->facts[number].last_fault_batch = m->view.batch;
        uvm_evict_index_note(&m->view, number, false);
        needed += !m->blocks[number].chunk;
    }
    m->view.requester = UVM_NO_BLOCK;
    d->requests.count = 0;
    if (d->policy->prefetch_batch &&
        d->policy->prefetch_batch(d->policy_state, &(struct uvm_batch_faults){sorted, n, &m->view}, &d->requests, err))
        return -1;
    if (!m->chunks)
        return 0;
    uint64_t ahead = e->before_batch ? e->before_batch(m->evict_state, &m->view, needed) : 0;
    for (int rc = 1; ahead && rc; ahead--) {
        rc = evict_early(d, at->cpu + d->platform->evict_ns, &at->out, err);
        if (rc < 0)
            return -1;
        at->cpu += rc ? d->platform->evict_ns : 0;
    }
    return 0;
}

/* After a batch that ended at `end_ns`: frees chunks behind its back. */
static int evict_behind(struct uvm_driver *d, double end_ns, struct err *err)
{
    struct uvm_memory *m = d->memory;
    uint64_t want = m->chunks && m->evict->keep_free ? m->evict->keep_free(m->evict_state) : 0;
    if (want > m->chunks)
        want = m->chunks;
    m->view.requester = UVM_NO_BLOCK;
    for (int rc = 1; rc && uvm_memory_free_chunks(m) < want;) {
        rc = evict_early(d, end_ns, &d->out_free_ns, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* Returns the pages of a block that the policy requested. */
static struct page_mask requested_pages(const struct uvm_driver *d, uint32_t number)
{
    struct page_mask pages = {{0}};
    const struct uvm_memory_block *b = &d->memory->blocks[number];
    size_t lo = 0;
    SORTED_FIRST(lo, d->requests.count, i, d->sorted_requests[i] / ACTOR_BLOCK_PAGES < number);
    for (; lo < d->requests.count && d->sorted_requests[lo] / ACTOR_BLOCK_PAGES == number; lo++)
        if (d->sorted_requests[lo] % ACTOR_BLOCK_PAGES >= b->block.offset)
            page_mask_set(&pages, uvm_memory_page(b, d->sorted_requests[lo]));
    return pages;
}

/* Memory for pages that nobody waits for, if it can be had without a block of the current batch: 1, else 0; -1. */
static int make_room_for_prefetch(struct uvm_driver *d, uint32_t number, const struct page_mask *come,
                                  struct clocks *at, struct err *err)
{
    struct uvm_memory *m = d->memory;
    const struct uvm_memory_block *b = &m->blocks[number];
    while (m->chunks) {
        uint32_t lack = m->in_pieces || uvm_memory_shares(m, b)
                            ? (uint32_t)__builtin_popcount(uvm_memory_pieces_of(come) & ~m->facts[number].pieces)
                        : b->chunk ? 0
                                   : uvm_memory_block_pieces(b);
        if (lack <= m->view.free_pieces)
            break;
        at->cpu += d->platform->evict_ns;
        int rc = evict_early(d, at->cpu, &at->out, err);
        if (rc <= 0)
            return rc;
    }
    return 1;
}

static bool read_mostly(const struct uvm_driver *d, uint32_t number)
{
    return d->memory->allocs[d->memory->blocks[number].alloc].advice & ACTOR_READ_MOSTLY;
}

/* --- thrashing pages: throttled, or pinned to the CPU and mapped --- */

int uvm_driver_detect_thrashing(struct uvm_driver *d, enum uvm_lapse lapse, struct err *err)
{
    if (uvm_thrashing_init(&d->thrashing, d->memory->block_count, lapse, err))
        return -1;
    d->detects_thrashing = true;
    for (uint32_t i = 0; i < d->memory->block_count; i++)
        d->memory->blocks[i].block.thrashing = &d->thrashing.blocks[i].thrashing;
    return 0;
}

/* A page stays with the CPU, and the GPU maps it until its pin is over. */
static int pin_to_cpu(struct uvm_driver *d, uint32_t number, unsigned page, struct err *err)
{
    struct page_mask one = {{0}};
    if (mem_grow((void **)&d->pinned, &d->pinned_cap, d->pinned_head + d->pinned_count + 1, sizeof *d->pinned, err))
        return -1;
    page_mask_set(&one, page);
    uvm_memory_map_remote(d->memory, number, &one, false);
    d->pinned[d->pinned_head + d->pinned_count++] =
        (struct uvm_pinned){d->thrashing.blocks[number].pages[page].pin_ns, number, (uint16_t)page};
    return 0;
}

int64_t uvm_driver_unpin(struct uvm_driver *d, int64_t time_ns)
{
    for (; d->pinned_count && d->pinned[d->pinned_head].until_ns <= time_ns; d->pinned_count--) {
        const struct uvm_pinned *p = &d->pinned[d->pinned_head++];
        struct page_mask one = {{0}};
        page_mask_set(&one, p->page);
        (void)uvm_thrashing_unpin(&d->thrashing, p->block, p->page, time_ns);
        uvm_memory_unmap_remote(d->memory, p->block, &one);
    }
    if (d->pinned_count)
        return d->pinned[d->pinned_head].until_ns;
    d->pinned_head = 0;
    return INT64_MAX;
}

/* Take out of a block's faulted pages those that wait, and those that stay with the CPU. */
static int hold_back(struct uvm_driver *d, uint32_t number, struct page_mask *faulted, struct clocks *at,
                     struct err *err)
{
    struct page_mask held = {{0}};
    uint32_t mapped = 0;
    if (!d->thrashing.blocks[number].pages)
        return 0;
    PAGE_MASK_EACH(page, faulted)
    {
        enum uvm_processor place;
        enum uvm_hint hint = uvm_thrashing_hint(&d->thrashing, number, page, UVM_GPU, (int64_t)at->cpu, &place);
        if (hint == UVM_HINT_NONE || (hint == UVM_HINT_PIN && place == UVM_GPU))
            continue;
        page_mask_set(&held, page);
        d->throttled |= hint == UVM_HINT_THROTTLE;
        if (hint == UVM_HINT_PIN && pin_to_cpu(d, number, page, err))
            return -1;
        mapped += hint == UVM_HINT_PIN;
        if (!d->thrashing.blocks[number].pages)
            break; /* the hint dropped the table */
    }
    page_mask_andnot(faulted, faulted, &held);
    if (!mapped)
        return 0;
    at->cpu += begin_ns(d, number) + d->platform->fault_page_ns * mapped;
    d->faults += mapped;
    uvm_memory_note_mapped(d->memory, number, mapped, !page_mask_any(faulted));
    return 0;
}

/* When the CPU may go on with a fault on a page: it sleeps while it is throttled. *pin: the page is to stay with it. */
static int64_t slept(struct uvm_driver *d, uint32_t number, unsigned page, int64_t time_ns, bool *pin)
{
    enum uvm_processor place = UVM_NOBODY;
    enum uvm_hint hint;
    while ((hint = uvm_thrashing_hint(&d->thrashing, number, page, UVM_CPU, time_ns, &place)) == UVM_HINT_THROTTLE)
        time_ns = d->thrashing.blocks[number].pages[page].end_ns + 1;
    *pin = hint == UVM_HINT_PIN;
    return time_ns;
}

/* --- services --- */

/* `copied` came for the faulted pages and the planned ones; outside of batches all for one cause. */
static void tell_copy(const struct uvm_driver *d, uint32_t number, const struct page_mask *copied,
                      const struct page_mask *faulted, enum record_cause cause, double start_ns, double end_ns)
{
    struct page_mask pages = *copied, besides = {{0}};
    if (cause == RECORD_CAUSE_FAULT) {
        page_mask_and(&pages, copied, faulted);
        page_mask_andnot(&besides, copied, faulted);
    }
    d->observer->moved(d->observer->ctx, &(struct uvm_move){.kind = RECORD_MIGRATE_H2D,
                                                            .block = &d->memory->blocks[number].block,
                                                            .pages = &pages,
                                                            .cause = cause,
                                                            .besides = &besides,
                                                            .start_ns = start_ns,
                                                            .end_ns = end_ns});
}

/* What copying pages in takes; counts its records. */
static double copy_in_ns(struct uvm_driver *d, const struct page_mask *copied, const struct page_mask *faulted,
                         const struct page_mask *plan)
{
    const struct uvm_platform *p = d->platform;
    struct page_mask part;
    if (!page_mask_any(copied))
        return 0;
    page_mask_and(&part, copied, faulted);
    unsigned records = page_mask_runs(&part);
    d->work.copied_services++;
    d->work.copied_faults += page_mask_count(&part);
    page_mask_and(&part, copied, plan);
    records += page_mask_runs(&part);
    d->records += records;
    unsigned runs = page_mask_runs(copied);
    d->work.copied_runs += runs;
    double ns = p->copy_run_ns * runs + (double)page_mask_count(copied) * UVM_PAGE_BYTES / p->h2d_bytes_per_s * 1e9;
    if (d->traced)
        ns += p->trace_record_ns * records;
    return ns;
}

/* The pages of a block that the current batch writes, of read-mostly memory. */
static struct page_mask written_of(const struct uvm_driver *d, uint32_t number)
{
    struct page_mask pages = {{0}};
    for (uint32_t i = 0; i < d->written_count; i++)
        if (d->written[i] / ACTOR_BLOCK_PAGES == number)
            page_mask_set(&pages, uvm_memory_page(&d->memory->blocks[number], d->written[i]));
    return pages;
}

/* Those of the pages that come whose mapping by the CPU has to go. Of read-mostly memory that is only what the CPU may
 * still write, and what the GPU writes: the rest stays mapped for reading, as it has been since the advice was given.
 * Source: drivers 545 to 580, uvm_policy.c (va_block_set_read_duplication_locked()), uvm_va_block.c
 * (uvm_va_block_revoke_prot(): the CPU's page tables are touched for pages that it may write only). */
static struct page_mask unmapped_by(const struct uvm_driver *d, uint32_t number, const struct page_mask *moved)
{
    const struct uvm_memory_block *b = &d->memory->blocks[number];
    struct page_mask mapped;
    page_mask_and(&mapped, moved, &b->host_mapped);
    if (read_mostly(d, number)) {
        struct page_mask lost = written_of(d, number);
        page_mask_or(&lost, &lost, &b->writable);
        page_mask_and(&mapped, &mapped, &lost);
    }
    return mapped;
}

/* The CPU's work on the pages that come. by_run: a prefetch maps runs in large pages, faults pay for each page too. */
static double move_ns(struct uvm_driver *d, uint32_t number, const struct page_mask *moved, bool by_run)
{
    const struct uvm_platform *p = d->platform;
    const struct page_mask mapped = unmapped_by(d, number, moved);
    unsigned moved_pages = page_mask_count(moved), unmapped = page_mask_count(&mapped);
    unsigned moved_runs = page_mask_runs(moved), unmapped_runs = page_mask_runs(&mapped);
    d->work.moved_pages += moved_pages;
    d->work.moved_runs += moved_runs;
    d->work.unmapped_pages += unmapped;
    d->work.unmapped_runs += unmapped_runs;
    d->moved += moved_pages;
    if (by_run)
        return p->moved_run_ns * moved_runs + p->unmap_run_ns * unmapped_runs;
    return p->moved_page_ns * moved_pages + p->moved_run_ns * moved_runs + p->unmap_page_ns * unmapped +
           p->unmap_run_ns * unmapped_runs;
}

/* Pages that have come are within reach at `time_ns`, no sooner than those before them: page table entries are written
 * in order, each behind the copies of its block. */
static int arrive(struct uvm_driver *d, uint32_t number, const struct page_mask *moved, double time_ns, struct err *err)
{
    if (mem_grow((void **)&d->arrivals, &d->arrival_cap, d->arrival_count + 1, sizeof *d->arrivals, err))
        return -1;
    struct uvm_arrival *a = &d->arrivals[d->arrival_count];
    *a = (struct uvm_arrival){(int64_t)(time_ns + 0.5), number, uvm_memory_to_flat(&d->memory->blocks[number], moved)};
    if (a->time_ns < d->arrived_ns)
        a->time_ns = d->arrived_ns;
    d->arrived_ns = a->time_ns;
    page_mask_andnot(&d->memory->access[number], &d->memory->access[number], &a->pages); /* until it arrives */
    d->arrival_count++;
    return 0;
}

/* Pages come to a block: memory for them, the CPU's work, the copies. The policy's hook has spoken. */
static int bring(struct uvm_driver *d, uint32_t number, const struct page_mask *faulted, const struct page_mask *plan,
                 enum record_cause cause, struct clocks *at, struct err *err)
{
    struct page_mask moved, copied;
    struct eviction_cost room;
    page_mask_or(&moved, faulted, plan);
    if (make_room(d, number, &moved, at, &room, err))
        return -1;
    at->cpu += move_ns(d, number, &moved, cause == RECORD_CAUSE_USER);
    if (uvm_memory_migrate(d->memory, number, faulted, plan, &copied, err))
        return -1;
    if (d->detects_thrashing && !read_mostly(d, number))
        uvm_thrashing_event(&d->thrashing, number, &copied, UVM_GPU, (int64_t)at->cpu);
    if (cause == RECORD_CAUSE_FAULT && read_mostly(d, number))
        uvm_memory_protect(d->memory, number, &moved);
    bool copies = page_mask_any(&copied);
    double in_ns = copy_in_ns(d, &copied, faulted, plan);
    if (room.back_ns > 0 || in_ns > 0) {
        if (at->copies < at->cpu)
            at->copies = at->cpu;
        if (at->copies < room.ready_ns)
            at->copies = room.ready_ns;
        at->copies += room.back_ns + in_ns;
        if (d->observer && page_mask_any(&copied))
            tell_copy(d, number, &copied, faulted, cause, at->copies - in_ns, at->copies);
    }
    return d->in_batch ? arrive(d, number, &moved, copies ? at->copies : at->cpu, err) : 0;
}

/* A fault on memory whose preferred location is the CPU, which the GPU reaches: pages are mapped, not moved. All of a
 * block that is nowhere yet; else the policy's, but for those that the CPU has mapped. */
static int map_remotely(struct uvm_driver *d, uint32_t number, const struct page_mask *faulted, struct clocks *at,
                        struct err *err)
{
    const struct uvm_platform *p = d->platform;
    struct uvm_memory *m = d->memory;
    struct uvm_memory_block *b = &m->blocks[number];
    struct uvm_block block = b->block;
    struct page_mask plan = {{0}};
    struct page_mask flat = m->remote[number];
    block.preferred = true;
    block.resident = uvm_memory_from_flat(b, &flat);
    if (uvm_policy_plan(d->policy, d->policy_state, &block, faulted, &plan, err))
        return -1;
    page_mask_andnot(&plan, &plan, &b->host_mapped);
    page_mask_andnot(&plan, &plan, &b->block.resident);
    page_mask_or(&plan, &plan, faulted);
    at->cpu += p->moved_page_ns * page_mask_count(&plan) + p->moved_run_ns * page_mask_runs(&plan);
    uvm_memory_note_mapped(m, number, page_mask_count(faulted), true);
    uvm_memory_map_remote(m, number, &plan, false);
    return 0;
}

/* The service of one block: `faulted` is not resident and not empty. */
static int service(struct uvm_driver *d, uint32_t number, const struct page_mask *faulted, struct clocks *at,
                   struct err *err)
{
    const struct uvm_platform *p = d->platform;
    const struct uvm_memory_block *b = &d->memory->blocks[number];
    unsigned faults = page_mask_count(faulted);
    d->faults += faults;
    at->cpu += begin_ns(d, number) + p->fault_page_ns * faults;
    if ((d->memory->allocs[b->alloc].advice & (ACTOR_PREFERRED_HOST | ACTOR_READ_MOSTLY)) == ACTOR_PREFERRED_HOST)
        return map_remotely(d, number, faulted, at, err);
    struct page_mask plan = {{0}};
    if (uvm_policy_plan(d->policy, d->policy_state, &b->block, faulted, &plan, err))
        return -1;
    if (d->requests.count) {
        struct page_mask requested = requested_pages(d, number);
        uvm_block_keep_movable(&b->block, faulted, &requested);
        page_mask_or(&plan, &plan, &requested);
    }
    return bring(d, number, faulted, &plan, RECORD_CAUSE_FAULT, at, err);
}

/* The GPU writes pages that it may read alone: the CPU gives them up, nothing is copied. What a fault brings of
 * read-mostly memory comes for reading, also where nobody else holds it, but for pages whose own fault was a write; and
 * the prefetcher plans none that are resident. So each page costs a fault, and its run a change of page tables, the
 * GPU's as the CPU's. `more`: the service goes on. Source: drivers 545 to 580, uvm_va_block.c
 * (compute_new_permission(), block_region_might_read_duplicate()). Assumed: a change of the GPU's takes as long as one
 * of the CPU's. */
static void upgrade(struct uvm_driver *d, uint32_t number, const struct page_mask *pages, bool more, struct clocks *at)
{
    const struct uvm_platform *p = d->platform;
    unsigned faults = page_mask_count(pages), runs = page_mask_runs(pages);
    d->faults += faults;
    at->cpu += begin_ns(d, number) + p->fault_page_ns * faults;
    uint32_t mapped = uvm_memory_invalidate_host(d->memory, number, pages);
    at->cpu += p->unmap_page_ns * mapped + p->unmap_run_ns * runs * (mapped ? 2 : 1);
    uvm_memory_note_mapped(d->memory, number, faults, !more);
}

/* Prefetches the requested pages of blocks without faults, in memory that no block of the current batch holds. */
static int serve_prefetch_requests(struct uvm_driver *d, struct clocks *at, struct err *err)
{
    struct uvm_memory *m = d->memory;
    for (size_t i = 0; i < d->requests.count; i++) {
        uint32_t number = d->sorted_requests[i] / ACTOR_BLOCK_PAGES;
        if (number >= m->block_count || m->facts[number].last_fault_batch == m->view.batch)
            continue;
        m->facts[number].last_fault_batch = m->view.batch; /* once a batch, and it is not evicted for another */
        uvm_evict_index_note(&m->view, number, false);
        static const struct page_mask none;
        struct page_mask pages = requested_pages(d, number);
        uvm_block_keep_movable(&m->blocks[number].block, &none, &pages);
        if (!page_mask_any(&pages) || m->allocs[m->blocks[number].alloc].advice & ACTOR_PREFERRED_HOST)
            continue;
        int rc = make_room_for_prefetch(d, number, &pages, at, err);
        if (rc < 0)
            return -1;
        if (!rc)
            continue;
        at->cpu += begin_ns(d, number);
        if (bring(d, number, &none, &pages, RECORD_CAUSE_FAULT, at, err))
            return -1;
    }
    return 0;
}

/* Pages of a block with faults that may be there for reading already. */
static int service_writes(struct uvm_driver *d, uint32_t number, struct page_mask *faulted, struct clocks *at,
                          struct err *err)
{
    const struct uvm_memory_block *b = &d->memory->blocks[number];
    struct page_mask written = written_of(d, number), readonly = uvm_memory_from_flat(b, &d->memory->readonly[number]);
    page_mask_and(&readonly, &readonly, &written);
    page_mask_and(&readonly, &readonly, &b->block.resident);
    page_mask_andnot(faulted, faulted, &b->block.resident);
    bool more = page_mask_any(faulted);
    if (page_mask_any(&readonly))
        upgrade(d, number, &readonly, more, at);
    if (!more)
        return 0;
    if (service(d, number, faulted, at, err))
        return -1;
    page_mask_and(&written, &written, faulted);
    if (read_mostly(d, number) && page_mask_any(&written))
        (void)uvm_memory_invalidate_host(d->memory, number, &written);
    return 0;
}

/* When the work so far is done: the CPU's, copies in, and copies out that it waited for with one engine. */
static double done_ns(const struct clocks *at)
{
    return at->copies > at->cpu ? at->copies : at->cpu;
}

static struct clocks clocks_at(const struct uvm_driver *d, double cpu)
{
    return (struct clocks){cpu, d->copies_free_ns, d->out_free_ns};
}

/* The work is over; when. */
static double end_of(struct uvm_driver *d, const struct clocks *at)
{
    d->copies_free_ns = at->copies;
    d->out_free_ns = at->out;
    return done_ns(at);
}

int uvm_driver_batch(struct uvm_driver *d, const uint32_t *pages, uint32_t n, int64_t fetch_ns, int64_t *end_ns,
                     struct err *err)
{
    const struct uvm_platform *p = d->platform;
    d->written_count = 0;
    for (uint32_t i = 0; i < n; i++) {
        d->sorted[i] = pages[i] & ~UVM_FAULT_WRITE;
        if (pages[i] & UVM_FAULT_WRITE)
            d->written[d->written_count++] = d->sorted[i];
    }
    const uint32_t *sorted = sort_pages(d->sorted, d->sorted + p->batch_faults, n);
    d->batch = (struct uvm_batch){.blocks = d->blocks, .total_chunks = d->memory->chunks};
    d->raw = n;
    d->faults = d->moved = d->distinct = 0;
    d->arrival_count = d->replay_count = 0;
    d->in_batch = d->defers;
    d->throttled = false;
    d->batches++;
    uvm_memory_begin_batch(d->memory, (uint32_t)d->batches, fetch_ns);
    struct clocks at = clocks_at(d, (double)fetch_ns);
    if (evict_ahead(d, sorted, n, &at, err))
        return -1;
    if (d->requests.count)
        d->sorted_requests =
            sort_pages(d->requests.pages, d->requests.pages + UVM_PREFETCH_REQUESTS_MAX, (uint32_t)d->requests.count);
    at.cpu += p->batch_before_ns + (p->raw_fault_ns + (d->traced ? p->trace_entry_ns : 0)) * n;
    for (uint32_t i = 0; i < n;) {
        uint32_t number = sorted[i] / ACTOR_BLOCK_PAGES, raw = 0;
        struct uvm_memory_block *b = &d->memory->blocks[number];
        struct page_mask faulted = {{0}};
        for (; i < n && sorted[i] / ACTOR_BLOCK_PAGES == number; i++, raw++)
            page_mask_set(&faulted, uvm_memory_page(b, sorted[i]));
        d->distinct += page_mask_count(&faulted);
        uint32_t before = d->faults;
        if (d->written_count) {
            if (service_writes(d, number, &faulted, &at, err))
                return -1;
        } else {
            page_mask_andnot(&faulted, &faulted, &b->block.resident);
            if (d->detects_thrashing && hold_back(d, number, &faulted, &at, err))
                return -1;
            if (page_mask_any(&faulted) && service(d, number, &faulted, &at, err))
                return -1;
        }
        if (d->replay == UVM_REPLAY_BLOCK)
            d->replays[d->replay_count++] = (int64_t)(done_ns(&at) + p->batch_after_ns + 0.5);
        if (d->faults == before)
            continue;
        d->blocks[d->batch.block_count++] = (struct uvm_batch_block){number, d->faults - before, raw};
    }
    if (d->requests.count && serve_prefetch_requests(d, &at, err))
        return -1;
    d->in_batch = false;
    d->flush_ns = (int64_t)(at.cpu + 0.5);
    double end = end_of(d, &at) + (d->replay == UVM_REPLAY_ONCE ? 0 : p->batch_after_ns);
    *end_ns = (int64_t)(end + 0.5);
    if (*end_ns <= fetch_ns)
        *end_ns = fetch_ns + 1; /* a platform without costs must still move on */
    d->services += d->batch.block_count;
    d->raw_faults += n;
    d->work.empty_batches += d->batch.block_count == 0;
    if (evict_behind(d, end, err))
        return -1;
    d->batch.free_chunks = uvm_memory_free_chunks(d->memory);
    return 0;
}

int uvm_driver_notification(struct uvm_driver *d, uint32_t number, uint32_t regions, int64_t time_ns, int64_t *end_ns,
                            struct err *err)
{
    struct uvm_memory *m = d->memory;
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask flat = uvm_memory_pages_of(regions), pages, plan;
    *end_ns = time_ns;
    m->facts[number].notifications++;
    uvm_evict_index_note(&m->view, number, false);
    page_mask_and(&flat, &flat, &m->remote[number]);
    pages = uvm_memory_from_flat(b, &flat);
    if (!page_mask_any(&pages))
        return 0;
    if (uvm_policy_plan(d->policy, d->policy_state, &b->block, &pages, &plan, err))
        return -1;
    page_mask_or(&pages, &pages, &plan);
    if (m->evict->on_access_counter && m->evict->on_access_counter(m->evict_state, &m->view, number, regions, err))
        return -1;
    static const struct page_mask none;
    struct clocks at = clocks_at(d, (double)time_ns);
    d->moved = 0;
    uvm_memory_begin_batch(m, (uint32_t)d->batches, time_ns);
    if (bring(d, number, &none, &pages, RECORD_CAUSE_ACCESS_COUNTERS, &at, err))
        return -1;
    *end_ns = (int64_t)(end_of(d, &at) + 0.5);
    return 0;
}

static int prefetch_block(struct uvm_driver *d, uint32_t number, const struct page_mask *pages, struct clocks *at,
                          struct err *err)
{
    static const struct page_mask none;
    const uint64_t before = d->memory->total.h2d;
    d->moved = 0;
    uvm_memory_begin_batch(d->memory, (uint32_t)d->batches, (int64_t)at->cpu);
    if (bring(d, number, &none, pages, RECORD_CAUSE_USER, at, err))
        return -1;
    const uint64_t copied = d->memory->total.h2d - before;
    if (!d->calls)
        return 0;
    if (at->copies < at->cpu)
        at->copies = at->cpu;
    at->copies += (copied ? d->calls->prefetch_block_ns : 0) +
                  (double)(d->moved - copied) * UVM_PAGE_BYTES / d->calls->zero_bytes_per_s * 1e9;
    return 0;
}

int uvm_driver_prefetch(struct uvm_driver *d, const bool *wanted, int64_t time_ns, int64_t *end_ns, struct err *err)
{
    struct uvm_memory *m = d->memory;
    struct clocks at = clocks_at(d, (double)time_ns);
    bool any = false;
    uint32_t called = UINT32_MAX; /* the allocation of the call that goes on */
    for (uint32_t i = 0; i < m->block_count; i++) {
        const struct uvm_block *b = &m->blocks[i].block;
        struct page_mask pages = {{0}};
        page_mask_set_region(&pages, b->first, b->end);
        page_mask_andnot(&pages, &pages, &b->resident);
        if (!wanted[m->blocks[i].alloc] || !page_mask_any(&pages))
            continue;
        if (m->blocks[i].alloc != called) {
            const double from = done_ns(&at);
            at.cpu = from + (d->calls ? d->calls->prefetch_call_ns : 0);
            if (d->observer)
                d->observer->prefetch(d->observer->ctx, (int64_t)from, (int64_t)at.cpu, m->blocks[i].alloc);
        }
        called = m->blocks[i].alloc;
        if (prefetch_block(d, i, &pages, &at, err))
            return -1;
        any = true;
    }
    const double end = end_of(d, &at);
    *end_ns = any ? (int64_t)(end + 0.5) : time_ns;
    return 0;
}

/* The CPU faulted on a page of a block: `pages` come to it, those that only the GPU holds by a copy. */
static void tell_cpu_fault(const struct uvm_driver *d, uint32_t number, unsigned page, const struct page_mask *pages,
                           int64_t time_ns)
{
    const struct uvm_memory_block *b = &d->memory->blocks[number];
    struct page_mask copied, own = {{0}};
    d->observer->cpu_fault(d->observer->ctx, time_ns, uvm_block_addr(&b->block, page), d->cpu_access);
    page_mask_and(&copied, pages, &b->block.resident);
    page_mask_andnot(&copied, &copied, &b->host_valid);
    if (!page_mask_any(&copied))
        return;
    double copy_ns = (double)page_mask_count(&copied) * UVM_PAGE_BYTES / d->platform->d2h_bytes_per_s * 1e9;
    page_mask_set(&own, page);
    page_mask_and(&own, &own, &copied);
    page_mask_andnot(&copied, &copied, &own);
    double start = (double)time_ns + d->platform->cpu_fault_ns;
    d->observer->moved(d->observer->ctx, &(struct uvm_move){.kind = RECORD_MIGRATE_D2H,
                                                            .block = &b->block,
                                                            .pages = &own,
                                                            .cause = RECORD_CAUSE_FAULT,
                                                            .besides = &copied,
                                                            .start_ns = start,
                                                            .end_ns = start + copy_ns});
}

void uvm_driver_cpu_touch(struct uvm_driver *d, uint32_t page, int64_t time_ns, int64_t *end_ns)
{
    const struct uvm_platform *p = d->platform;
    uint32_t number = page / ACTOR_BLOCK_PAGES;
    struct uvm_memory_block *b = &d->memory->blocks[number];
    unsigned own = uvm_memory_page(b, page);
    bool pin = false;
    *end_ns = time_ns;
    if (page_mask_test(&b->host_mapped, own))
        return;
    if (d->detects_thrashing && page_mask_test(&b->block.resident, own))
        time_ns = slept(d, number, own, time_ns, &pin);
    /* The tree counts what is resident on the destination: here the CPU. */
    struct uvm_block block = b->block;
    block.resident = b->host_valid;
    struct page_mask faulted = {{0}}, plan = {{0}}, moved;
    page_mask_set(&faulted, own);
    if (!page_mask_test(&b->host_valid, own))
        uvm_tree_plan(&block, &faulted, UVM_TREE_THRESHOLD, &plan);
    page_mask_or(&faulted, &faulted, &plan);
    page_mask_and(&moved, &faulted, &b->block.resident);
    if (d->observer)
        tell_cpu_fault(d, number, own, &faulted, time_ns);
    uint32_t copied = uvm_memory_to_host(d->memory, number, &faulted);
    d->cpu_faults++;
    d->records += copied > 0;
    double ns = p->cpu_fault_ns + (double)copied * UVM_PAGE_BYTES / p->d2h_bytes_per_s * 1e9;
    *end_ns = time_ns + (int64_t)(ns + 0.5);
    if (d->detects_thrashing && page_mask_any(&moved) && !read_mostly(d, number))
        uvm_thrashing_event(&d->thrashing, number, &moved, UVM_CPU, *end_ns);
    if (pin && pin_to_cpu(d, number, own, NULL))
        d->thrashing.failed = true;
}
