#include "replay/uvm/uvm_room.h"
#include "replay/uvm/uvm_driver.h"
#include "replay/uvm/uvm_memory.h"
#include "trace/base/mem.h"

static void tell_eviction(const struct uvm_driver *d, const struct uvm_evicted *out, double start_ns, double end_ns)
{
    if (d->watch && out->copied_pages)
        d->watch->moved(d->watch->ctx, &(struct uvm_watched_move){.kind = RECORD_MIGRATE_D2H,
                                                                  .block = &d->memory->blocks[out->number].block,
                                                                  .pages = &out->copied,
                                                                  .cause = RECORD_CAUSE_EVICTION,
                                                                  .start_ns = start_ns,
                                                                  .end_ns = end_ns});
}

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
    tell_eviction(d, out, start, from_ns + *ns);
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

int uvm_driver_make_room(struct uvm_driver *d, uint32_t number, const struct page_mask *come, struct uvm_clocks *at,
                         struct uvm_room *room, struct err *err)
{
    const struct uvm_platform *p = d->platform;
    struct uvm_memory_block *b = &d->memory->blocks[number];
    *room = (struct uvm_room){0};
    if (!b->known) {
        at->cpu += p->new_block_ns;
        d->work.new_blocks++;
    }
    struct uvm_evicted out;
    uint32_t pieces;
    uint64_t spare = d->memory->view.free_pieces;
    int rc;
    while ((rc = uvm_memory_take(d->memory, number, come, &pieces, &out, err)) == 0) {
        at->cpu += p->evict_ns + (out.more ? 0 : p->service_ns); /* the lock was dropped: the service begins anew */
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

int uvm_driver_evict_ahead(struct uvm_driver *d, const uint32_t *sorted, uint32_t n, struct uvm_clocks *at,
                           struct err *err)
{
    struct uvm_memory *m = d->memory;
    const struct uvm_evict_policy *e = m->evict;
    uint64_t needed = 0;
    if ((!m->chunks || e->stock) && !d->policy->ahead)
        return 0;
    for (uint32_t i = 0, last = UVM_NO_BLOCK; i < n; i++) {
        uint32_t number = sorted[i] / ACTOR_BLOCK_PAGES;
        if (number == last)
            continue;
        last = number;
        m->facts[number].asked_batch = m->view.batch;
        needed += !m->blocks[number].chunk;
    }
    m->view.needs = UVM_NO_BLOCK;
    d->asks.count = 0;
    if (d->policy->ahead && d->policy->ahead(d->policy_state, &(struct uvm_ahead){sorted, n, &m->view}, &d->asks, err))
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

int uvm_driver_evict_behind(struct uvm_driver *d, double end_ns, struct err *err)
{
    struct uvm_memory *m = d->memory;
    uint64_t want = m->chunks && m->evict->keep_free ? m->evict->keep_free(m->evict_state) : 0;
    if (want > m->chunks)
        want = m->chunks;
    m->view.needs = UVM_NO_BLOCK;
    for (int rc = 1; rc && uvm_memory_free_chunks(m) < want;) {
        rc = evict_early(d, end_ns, &d->out_free_ns, err);
        if (rc < 0)
            return -1;
    }
    return 0;
}

struct page_mask uvm_driver_asked(const struct uvm_driver *d, uint32_t number)
{
    struct page_mask pages = {{0}};
    const struct uvm_memory_block *b = &d->memory->blocks[number];
    size_t lo = 0, hi = d->asks.count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (d->asked[middle] / ACTOR_BLOCK_PAGES < number)
            lo = middle + 1;
        else
            hi = middle;
    }
    for (; lo < d->asks.count && d->asked[lo] / ACTOR_BLOCK_PAGES == number; lo++)
        if (d->asked[lo] % ACTOR_BLOCK_PAGES >= b->block.offset)
            page_mask_set(&pages, uvm_memory_page(b, d->asked[lo]));
    return pages;
}

int uvm_driver_room_ahead(struct uvm_driver *d, uint32_t number, const struct page_mask *come, struct uvm_clocks *at,
                          struct err *err)
{
    struct uvm_memory *m = d->memory;
    const struct uvm_memory_block *b = &m->blocks[number];
    while (m->chunks) {
        uint32_t lack = m->in_pieces || uvm_memory_shares(m, b)
                            ? (uint32_t)__builtin_popcount(uvm_memory_pieces_of(come) & ~m->facts[number].pieces)
                        : b->chunk ? 0
                                   : uvm_memory_whole(b);
        if (lack <= m->view.free_pieces)
            break;
        at->cpu += d->platform->evict_ns;
        int rc = evict_early(d, at->cpu, &at->out, err);
        if (rc <= 0)
            return rc;
    }
    return 1;
}
