#include "replay/uvm/uvm_memory.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param_value.h"

enum { PIECES = UVM_BLOCK_PIECES };

struct page_mask uvm_memory_to_flat(const struct uvm_memory_block *b, const struct page_mask *own)
{
    struct page_mask m = *own;
    if (b->block.offset)
        page_mask_up(&m, own, b->block.offset);
    return m;
}

struct page_mask uvm_memory_from_flat(const struct uvm_memory_block *b, const struct page_mask *flat_mask)
{
    struct page_mask m = *flat_mask;
    if (b->block.offset)
        page_mask_down(&m, flat_mask, b->block.offset);
    return m;
}

void uvm_memory_map_remote(struct uvm_memory *m, uint32_t number, const struct page_mask *pages, bool readonly)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask reach = uvm_memory_to_flat(b, pages);
    page_mask_or(&b->host_valid, &b->host_valid, pages);
    page_mask_or(&m->access[number], &m->access[number], &reach);
    page_mask_or(&m->remote[number], &m->remote[number], &reach);
    b->block.populated = true;
    m->any_remote = true;
    if (!readonly) {
        page_mask_andnot(&m->readonly[number], &m->readonly[number], &reach);
        return;
    }
    page_mask_or(&m->readonly[number], &m->readonly[number], &reach);
    m->any_readonly = true;
}

void uvm_memory_unmap_remote(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask gone = uvm_memory_to_flat(b, pages), used;
    page_mask_and(&gone, &gone, &m->remote[number]);
    if (!page_mask_any(&gone))
        return;
    page_mask_and(&used, &gone, &m->used[number]);
    struct page_mask seen = uvm_memory_from_flat(b, &used); /* that they were touched is remembered */
    page_mask_or(&b->seen, &b->seen, &seen);
    page_mask_andnot(&m->used[number], &m->used[number], &gone);
    page_mask_andnot(&m->access[number], &m->access[number], &gone);
    page_mask_andnot(&m->remote[number], &m->remote[number], &gone);
    page_mask_andnot(&m->readonly[number], &m->readonly[number], &gone);
}

/* Pages that the CPU keeps as well: read-mostly memory that both may read. */
static void duplicate(struct uvm_memory *m, uint32_t number, const struct page_mask *copied)
{
    page_mask_andnot(&m->blocks[number].writable, &m->blocks[number].writable, copied);
    uvm_memory_protect(m, number, copied);
}

void uvm_memory_protect(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct page_mask flat = uvm_memory_to_flat(&m->blocks[number], pages);
    page_mask_or(&m->readonly[number], &m->readonly[number], &flat);
    m->any_readonly = true;
}

uint32_t uvm_memory_invalidate_host(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask mapped, own = uvm_memory_to_flat(b, pages);
    page_mask_and(&mapped, pages, &b->host_mapped);
    page_mask_andnot(&b->host_mapped, &b->host_mapped, pages);
    page_mask_andnot(&b->host_valid, &b->host_valid, pages);
    page_mask_andnot(&m->readonly[number], &m->readonly[number], &own);
    return page_mask_count(&mapped);
}

/* Whether what lies with the CPU is mapped by the GPU at once; memory that is duplicated is not. */
static bool accessed_by(const struct uvm_memory *m, const struct uvm_memory_block *b)
{
    return (m->allocs[b->alloc].advice & (ACTOR_ACCESSED_BY | ACTOR_READ_MOSTLY)) == ACTOR_ACCESSED_BY;
}

static void lay_out(struct uvm_memory *m, uint32_t alloc, uint32_t number)
{
    const struct actor_alloc *a = &m->allocs[alloc];
    uint64_t page_end = (a->addr + a->bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
    uint64_t end = a->addr;
    for (uint64_t start = a->addr; start < page_end; start = end, number++) {
        end = (start / ACTOR_BLOCK_BYTES + 1) * ACTOR_BLOCK_BYTES;
        if (end > page_end)
            end = page_end;
        struct uvm_memory_block *b = &m->blocks[number];
        uvm_block_init(&b->block, start, end);
        b->alloc = alloc;
        if (b->block.end - b->block.first < UVM_BLOCK_PAGES)
            m->cut[m->cut_count++] = number;
        b->cut = b->block.end - b->block.first < UVM_BLOCK_PAGES ? m->cut_count - 1 : UVM_NO_BLOCK;
        m->facts[number] = (struct uvm_evict_block){
            .block = &b->block, .older = UVM_NO_BLOCK, .newer = UVM_NO_BLOCK, .advice = a->advice};
        struct page_mask all = {{0}};
        page_mask_set_region(&all, b->block.first, b->block.end);
        if (a->host)
            b->host_valid = b->host_mapped = all;
        if (a->host && a->advice & ACTOR_ADVISED_FIRST)
            b->writable = all;
        b->block.populated = a->host;
        m->any_read_mostly |= (a->advice & ACTOR_READ_MOSTLY) != 0;
        if (accessed_by(m, b) && a->host)
            uvm_memory_map_remote(m, number, &all, false);
    }
}

int uvm_memory_init(struct uvm_memory *m, const struct actor_alloc *allocs, size_t n, uint64_t chunks, struct err *err)
{
    *m = (struct uvm_memory){.allocs = allocs, .alloc_count = n, .chunks = chunks};
    m->block_count = (uint32_t)(actor_space_pages(allocs, n) / ACTOR_BLOCK_PAGES);
    m->evict = uvm_evict_of(NULL);
    m->draining = UVM_NO_BLOCK;
    const size_t each = sizeof *m->blocks + sizeof *m->facts + 5 * sizeof *m->access +
                        (chunks ? ACTOR_BLOCK_PAGES * sizeof *m->evict_batch : 0);
    if (mem_room(m->block_count * (uint64_t)each, err))
        return -1;
    for (int list = UVM_MEMORY_USED; list <= UVM_MEMORY_DISCARDED; list++)
        m->idle_oldest[list] = m->idle_newest[list] = UVM_NO_BLOCK;
    m->cut = mem_zalloc(2 * n, sizeof *m->cut, err); /* an allocation has two edges */
    m->shared = mem_zalloc(2 * n + 1, sizeof *m->shared, err);
    m->place = mem_zalloc(2 * n, PIECES * sizeof *m->place, err);
    m->blocks = mem_zalloc(m->block_count, sizeof *m->blocks, err);
    m->facts = mem_zalloc(m->block_count, sizeof *m->facts, err);
    m->evict_batch = chunks ? mem_zalloc(m->block_count, ACTOR_BLOCK_PAGES * sizeof *m->evict_batch, err) : NULL;
    struct page_mask **const masks[] = {&m->access, &m->used, &m->dirty, &m->remote, &m->readonly};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        if (!(*masks[i] = mem_zalloc(m->block_count, sizeof **masks[i], err)))
            return -1;
    m->account = mem_zalloc(n, sizeof *m->account, err);
    if (!m->cut || !m->shared || !m->place || !m->blocks || !m->facts || (chunks && !m->evict_batch) || !m->account)
        return -1;
    m->view = (struct uvm_evict_view){.blocks = m->facts,
                                      .block_count = m->block_count,
                                      .oldest = UVM_NO_BLOCK,
                                      .newest = UVM_NO_BLOCK,
                                      .requester = UVM_NO_BLOCK,
                                      .free_pieces = chunks * PIECES,
                                      .total_pieces = chunks * PIECES};
    for (uint32_t i = 0; i < n; i++)
        lay_out(m, i, allocs[i].first_page / ACTOR_BLOCK_PAGES);
    return 0;
}

int uvm_memory_evict_by(struct uvm_memory *m, const struct uvm_evict_policy *policy, const void *params,
                        struct err *err)
{
    if (!policy)
        return 0;
    m->evict = policy;
    m->evict_state = mem_zalloc(1, policy->head.state_size, err);
    if (!m->evict_state)
        return -1;
    if (params)
        memcpy(m->evict_state, params, policy->head.state_size);
    else if (policy->head.params)
        param_defaults(policy->head.params, m->evict_state);
    if (policy->init && policy->init(m->evict_state, err))
        return -1;
    m->in_pieces = uvm_evict_in_pieces(policy, m->evict_state);
    m->remote_after_eviction = policy->access_counter_threshold != NULL;
    if (m->in_pieces)
        m->view.piece_age = m->piece_age = mem_zalloc(m->block_count, PIECES * sizeof *m->piece_age, err);
    return m->in_pieces && !m->piece_age ? -1 : 0;
}

void uvm_memory_release(struct uvm_memory *m)
{
    free(m->blocks);
    free(m->facts);
    free(m->cut);
    free(m->shared);
    free(m->place);
    free(m->evict_batch);
    free(m->piece_age);
    if (m->evict && m->evict->release && m->evict_state)
        m->evict->release(m->evict_state);
    free(m->evict_state);
    free(m->access);
    free(m->used);
    free(m->dirty);
    free(m->remote);
    free(m->readonly);
    free(m->account);
    uvm_evict_index_release(&m->index);
    *m = (struct uvm_memory){0};
}

void uvm_account_add(struct uvm_account *to, const struct uvm_account *plus, const struct uvm_account *minus)
{
    to->services += plus->services - minus->services;
    to->faults += plus->faults - minus->faults;
    to->prefetched += plus->prefetched - minus->prefetched;
    to->prefetched_used += plus->prefetched_used - minus->prefetched_used;
    to->mapped += plus->mapped - minus->mapped;
    to->h2d += plus->h2d - minus->h2d;
    to->d2h += plus->d2h - minus->d2h;
    to->dropped += plus->dropped - minus->dropped;
    to->evictions += plus->evictions - minus->evictions;
}

/* Counts what happened to a block. */
static void enter(struct uvm_memory *m, const struct uvm_memory_block *b, const struct uvm_account *what)
{
    static const struct uvm_account nothing;
    uvm_account_add(&m->total, what, &nothing);
    uvm_account_add(&m->account[b->alloc], what, &nothing);
}

void uvm_memory_note_mapped(struct uvm_memory *m, uint32_t number, uint32_t pages, bool service)
{
    enter(m, &m->blocks[number], &(struct uvm_account){.services = service, .mapped = pages});
}

/* Pages leave the GPU: counts their use and takes them from every mask. */
static void leave(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask used = uvm_memory_from_flat(b, &m->used[number]), hit;
    page_mask_and(&used, &used, pages);
    page_mask_or(&b->seen, &b->seen, &used);
    page_mask_and(&hit, &used, &b->prefetched);
    enter(m, b, &(struct uvm_account){.prefetched_used = page_mask_count(&hit)});
    unsigned gone_pages = page_mask_count(pages);
    m->pages_out += gone_pages;
    m->facts[number].resident -= gone_pages;
    page_mask_andnot(&b->prefetched, &b->prefetched, pages);
    page_mask_andnot(&b->block.resident, &b->block.resident, pages);
    struct page_mask gone = uvm_memory_to_flat(b, pages);
    page_mask_andnot(&m->access[number], &m->access[number], &gone);
    page_mask_andnot(&m->used[number], &m->used[number], &gone);
    page_mask_andnot(&m->dirty[number], &m->dirty[number], &gone);
    page_mask_andnot(&m->readonly[number], &m->readonly[number], &gone);
}

/* --- the order of service --- */

static void tell(struct uvm_memory *m, uint32_t number, enum uvm_evict_event event)
{
    uvm_evict_index_note(&m->view, number, event == UVM_EVICT_EMPTIED || !m->facts[number].pieces);
    if (m->evict->on_block_event)
        m->evict->on_block_event(m->evict_state, &m->view, number, event);
}

static void unlink_block(struct uvm_memory *m, uint32_t number)
{
    struct uvm_evict_block *b = &m->facts[number];
    enum uvm_memory_list list = m->blocks[number].list;
    bool idle = list != UVM_MEMORY_USED;
    if (b->older != UVM_NO_BLOCK)
        m->facts[b->older].newer = b->newer;
    else
        *(idle ? &m->idle_oldest[list] : &m->view.oldest) = b->newer;
    if (b->newer != UVM_NO_BLOCK)
        m->facts[b->newer].older = b->older;
    else
        *(idle ? &m->idle_newest[list] : &m->view.newest) = b->older;
    b->older = b->newer = UVM_NO_BLOCK;
    m->blocks[number].list = UVM_MEMORY_USED;
}

static void link_last(struct uvm_memory *m, uint32_t number, uint32_t *oldest, uint32_t *newest)
{
    struct uvm_evict_block *b = &m->facts[number];
    b->older = *newest;
    b->newer = UVM_NO_BLOCK;
    *(*newest != UVM_NO_BLOCK ? &m->facts[*newest].newer : oldest) = number;
    *newest = number;
}

/* Moves a block that holds memory to the new end of the order of service. */
static void make_newest(struct uvm_memory *m, uint32_t number)
{
    if (m->view.newest == number)
        return;
    unlink_block(m, number);
    link_last(m, number, &m->view.oldest, &m->view.newest);
}

/* Nothing of a block that holds memory is resident any more: to the tail of the unused or discarded ones. */
static void make_idle(struct uvm_memory *m, uint32_t number, enum uvm_memory_list list)
{
    unlink_block(m, number);
    m->blocks[number].list = list;
    link_last(m, number, &m->idle_oldest[list], &m->idle_newest[list]);
    tell(m, number, UVM_EVICT_EMPTIED);
}

/* --- pages that come and go --- */

/* Of the pages that come, those that an eviction sent away not long ago. */
static void count_returned(struct uvm_memory *m, uint32_t number, const struct page_mask *come)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask again;
    page_mask_and(&again, &b->evicted, come);
    page_mask_andnot(&b->evicted, &b->evicted, come);
    if (m->view.batch - b->evict_batch > UVM_RETURN_BATCHES)
        return;
    PAGE_MASK_EACH(page, &again)
    m->evictions.returned +=
        m->view.batch - m->evict_batch[(size_t)number * ACTOR_BLOCK_PAGES + page] <= UVM_RETURN_BATCHES;
}

/* A service came to a block: the facts, and its place in the order. */
static void note_service(struct uvm_memory *m, uint32_t number, const struct page_mask *come, unsigned faults)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    struct uvm_evict_block *f = &m->facts[number];
    unsigned pages = page_mask_count(come);
    f->resident += pages;
    f->faulted += faults;
    f->prefetched += pages - faults;
    if (!f->services++) {
        f->first_batch = m->view.batch;
        f->first_ns = m->view.time_ns;
    }
    f->last_batch = m->view.batch;
    f->last_ns = m->view.time_ns;
    m->visits++;
    if (m->in_pieces)
        for (uint32_t rest = uvm_memory_pieces_of(come); rest; rest &= rest - 1)
            m->piece_age[(size_t)number * PIECES + (unsigned)__builtin_ctz(rest)] = m->visits;
    if (!uvm_memory_shares(m, b))
        make_newest(m, number);
    tell(m, number, UVM_EVICT_SERVICED);
}

int uvm_memory_migrate(struct uvm_memory *m, uint32_t number, const struct page_mask *faulted,
                       const struct page_mask *planned, struct page_mask *copied, struct err *err)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask come;
    if (page_mask_intersects(faulted, planned) || page_mask_intersects(faulted, &b->block.resident) ||
        page_mask_intersects(planned, &b->block.resident))
        return err_set(err, "check violated: a page of VA block %u would become resident twice", number);
    page_mask_or(&come, faulted, planned);
    page_mask_and(copied, &come, &b->host_valid);
    unsigned faults = page_mask_count(faulted);
    enter(m, b,
          &(struct uvm_account){
              .services = 1, .faults = faults, .prefetched = page_mask_count(planned), .h2d = page_mask_count(copied)});
    m->pages_in += page_mask_count(&come);
    count_returned(m, number, &come);
    page_mask_or(&b->block.resident, &b->block.resident, &come);
    page_mask_or(&b->prefetched, &b->prefetched, planned);
    if (m->any_remote)
        uvm_memory_unmap_remote(m, number, &come);
    if (m->allocs[b->alloc].advice & ACTOR_READ_MOSTLY) {
        duplicate(m, number, copied);
    } else {
        page_mask_andnot(&b->host_mapped, &b->host_mapped, &come);
        page_mask_andnot(&b->host_valid, &b->host_valid, &come);
    }
    struct page_mask reach = uvm_memory_to_flat(b, &come);
    page_mask_or(&m->access[number], &m->access[number], &reach);
    b->block.populated = true;
    b->block.fault_pages += faults;
    note_service(m, number, &come, faults);
    return 0;
}

void uvm_memory_map(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask here = uvm_memory_to_flat(b, &b->block.resident);
    page_mask_and(&here, &here, pages);
    page_mask_or(&m->access[number], &m->access[number], &here);
}

uint32_t uvm_memory_to_host(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask back, only;
    page_mask_and(&back, &b->block.resident, pages);
    page_mask_andnot(&only, &back, &b->host_valid);
    uint32_t copied = page_mask_count(&only);
    enter(m, b, &(struct uvm_account){.d2h = copied, .dropped = page_mask_count(&back) - copied});
    leave(m, number, &back);
    page_mask_or(&b->host_valid, &b->host_valid, pages);
    page_mask_or(&b->host_mapped, &b->host_mapped, pages);
    page_mask_or(&b->writable, &b->writable, pages);
    b->block.populated = true;
    b->block.fault_pages = 0;
    if (b->chunk && !m->facts[number].resident && b->list == UVM_MEMORY_USED && !uvm_memory_shares(m, b))
        make_idle(m, number, UVM_MEMORY_UNUSED);
    else
        uvm_evict_index_note(&m->view, number, false);
    if (accessed_by(m, b))
        uvm_memory_map_remote(m, number, pages, false);
    return copied;
}

void uvm_memory_discard(struct uvm_memory *m, uint32_t number)
{
    static const struct page_mask none;
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask all = {{0}}, out = b->block.resident;
    bool held = page_mask_any(&out);
    page_mask_set_region(&all, b->block.first, b->block.end);
    uvm_memory_unmap_remote(m, number, &all);
    enter(m, b, &(struct uvm_account){.dropped = page_mask_count(&out)});
    leave(m, number, &out);
    b->host_valid = b->host_mapped = b->writable = b->evicted = none;
    b->block.populated = false;
    b->block.fault_pages = 0;
    if (held && !uvm_memory_shares(m, b))
        make_idle(m, number, UVM_MEMORY_DISCARDED);
    else
        uvm_evict_index_note(&m->view, number, false);
}

/* --- memory for them: chunks, victims --- */

void uvm_memory_begin_batch(struct uvm_memory *m, uint32_t batch, int64_t fetch_ns)
{
    m->view.batch = batch;
    m->view.time_ns = fetch_ns;
}

/* Whether chunks are shared by blocks that are cut short: pieces and unlimited memory know no chunks. */
static bool by_chunks(const struct uvm_memory *m)
{
    return m->chunks && !m->in_pieces;
}

static void count_free(struct uvm_memory *m)
{
    uint64_t used = by_chunks(m) ? m->chunks_used * PIECES : m->pieces_used;
    m->view.free_pieces = m->chunks ? m->chunks * PIECES - used : 0;
}

/* The pieces of a cut block that lie in a shared chunk. */
static uint32_t in_shared(const struct uvm_memory *m, uint32_t cut, uint32_t chunk)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < PIECES; i++)
        held |= (uint32_t)(m->place[(size_t)cut * PIECES + i] == chunk + 1) << i;
    return held;
}

/* Pieces that are free in shared chunks; that which is being evicted has none. */
static uint32_t room_in_shared(const struct uvm_memory *m)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i <= m->cut_count; i++)
        room += m->shared[i] && i != m->draining ? PIECES - m->shared[i] : 0;
    return room;
}

/* A piece of a cut block gets a place in the first shared chunk with room, or in a new one. Which. */
static uint32_t place(struct uvm_memory *m, uint32_t cut, unsigned piece)
{
    uint32_t to = UVM_NO_BLOCK;
    for (uint32_t i = 0; i <= m->cut_count && to == UVM_NO_BLOCK; i++)
        if (m->shared[i] && i != m->draining && m->shared[i] < PIECES)
            to = i;
    for (uint32_t i = 0; i <= m->cut_count && to == UVM_NO_BLOCK; i++)
        if (!m->shared[i])
            to = i;
    m->chunks_used += !m->shared[to];
    m->shared[to]++;
    m->place[(size_t)cut * PIECES + piece] = to + 1;
    return to;
}

/* A block takes its chunk, or pieces `held` of shared ones; false: there are none. *taken: pieces no longer free. */
static bool take_chunk(struct uvm_memory *m, uint32_t number, uint32_t held, uint32_t *taken)
{
    struct uvm_memory_block *b = &m->blocks[number];
    uint64_t before = m->chunks_used;
    if (b->cut == UVM_NO_BLOCK) {
        *taken = PIECES;
        m->chunks_used += m->chunks_used < m->chunks;
        return m->chunks_used > before;
    }
    uint32_t room = room_in_shared(m), need = (uint32_t)__builtin_popcount(held);
    if (need > room && m->chunks_used + (need - room + PIECES - 1) / PIECES > m->chunks)
        return false;
    uint32_t last = UVM_NO_BLOCK;
    for (; held; held &= held - 1) {
        uint32_t to = place(m, b->cut, (unsigned)__builtin_ctz(held));
        for (uint32_t i = 0; i < m->cut_count && to != last; i++)
            if (m->cut[i] != number && in_shared(m, i, to)) {
                make_newest(m, m->cut[i]); /* the whole chunk moves */
                uvm_evict_index_note(&m->view, m->cut[i], false);
            }
        last = to;
    }
    *taken = (uint32_t)(m->chunks_used - before) * PIECES;
    return true;
}

/* What goes with a victim: all that it has, or its pieces of one shared chunk, which is evicted from then on. */
static uint32_t share_to_evict(struct uvm_memory *m, uint32_t number)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    if (!uvm_memory_shares(m, b))
        return UINT32_MAX;
    if (m->draining == UVM_NO_BLOCK)
        m->draining = m->place[(size_t)b->cut * PIECES + (unsigned)__builtin_ctz(m->facts[number].pieces)] - 1;
    return in_shared(m, b->cut, m->draining);
}

/* A block gives its chunk, or its pieces `held` of the one that is being evicted, back. */
static void give_chunk(struct uvm_memory *m, uint32_t number, uint32_t held, struct uvm_evicted *evicted)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    if (b->cut != UVM_NO_BLOCK) {
        m->shared[m->draining] -= (uint8_t)__builtin_popcount(held);
        for (; held; held &= held - 1)
            m->place[(size_t)b->cut * PIECES + (unsigned)__builtin_ctz(held)] = 0;
        evicted->more = m->shared[m->draining] > 0;
        if (!evicted->more)
            m->draining = UVM_NO_BLOCK;
    }
    evicted->pieces = evicted->more ? 0 : PIECES;
    m->chunks_used -= !evicted->more;
}

/* Note what evicted pages were, while they still are; `back` are those that are copied. */
static void note_evicted(struct uvm_memory *m, uint32_t number, const struct page_mask *out,
                         const struct page_mask *back)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask used = uvm_memory_from_flat(b, &m->used[number]), unused;
    page_mask_andnot(&unused, &b->prefetched, &used);
    page_mask_and(&unused, &unused, out);
    m->evictions.pages += page_mask_count(out);
    m->evictions.back += page_mask_count(back);
    m->evictions.unused += page_mask_count(&unused);
    page_mask_or(&b->evicted, &b->evicted, back);
    b->evict_batch = m->view.batch;
    PAGE_MASK_EACH(page, back)
    m->evict_batch[(size_t)number * ACTOR_BLOCK_PAGES + page] = m->view.batch;
}

/* The pieces `held` of a block go, and what is resident in them. */
static void evict(struct uvm_memory *m, uint32_t number, uint32_t held, struct uvm_evicted *evicted)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct uvm_evict_block *f = &m->facts[number];
    bool all = !(f->pieces & ~held);
    struct page_mask out = b->block.resident;
    if (!all) {
        struct page_mask part = uvm_memory_pages_of(held);
        page_mask_and(&out, &out, &part);
    }
    struct page_mask back = out;
    if (m->allocs[b->alloc].advice & ACTOR_READ_MOSTLY) {
        struct page_mask dirty = uvm_memory_from_flat(b, &m->dirty[number]), clean;
        page_mask_andnot(&clean, &b->host_valid, &dirty);
        page_mask_andnot(&back, &out, &clean);
    }
    *evicted = (struct uvm_evicted){
        .number = number, .copied_pages = page_mask_count(&back), .runs = page_mask_runs(&back), .copied = back};
    enter(m, b,
          &(struct uvm_account){
              .d2h = evicted->copied_pages, .dropped = page_mask_count(&out) - evicted->copied_pages, .evictions = 1});
    note_evicted(m, number, &out, &back);
    page_mask_or(&b->host_valid, &b->host_valid, &back);
    leave(m, number, &out);
    if (accessed_by(m, b) || m->remote_after_eviction)
        uvm_memory_map_remote(m, number, &out, !accessed_by(m, b));
    bool counted = m->in_pieces || uvm_memory_shares(m, b);
    uint32_t given = counted ? (uint32_t)__builtin_popcount(held & f->pieces) : uvm_memory_block_pieces(b);
    evicted->pieces = given;
    if (by_chunks(m))
        give_chunk(m, number, held, evicted);
    f->pieces &= ~held;
    f->evictions++;
    if (all) {
        unlink_block(m, number);
        b->chunk = false;
    }
    m->pieces_used -= given;
    count_free(m);
    tell(m, number, UVM_EVICT_FREED);
}

/* Whether a block of the current batch would go with a victim. */
static bool takes_from_current_batch(const struct uvm_memory *m, uint32_t number)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    if (!uvm_memory_shares(m, b) || !m->facts[number].pieces)
        return uvm_evict_in_current_batch(&m->view, number);
    uint32_t chunk = m->place[(size_t)b->cut * PIECES + (unsigned)__builtin_ctz(m->facts[number].pieces)] - 1;
    for (uint32_t i = 0; i < m->cut_count; i++)
        if (uvm_evict_in_current_batch(&m->view, m->cut[i]) && in_shared(m, i, chunk))
            return true;
    return false;
}

static int pick(struct uvm_memory *m, uint32_t requester, struct uvm_victim *victim, struct err *err)
{
    if (m->evict->key && !m->view.index &&
        uvm_evict_index_init(&m->index, &m->view, m->evict->key, m->evict_state, err))
        return -1;
    m->view.requester = requester;
    uvm_evict_index_hide(&m->view, requester);
    *victim = m->evict->pick(m->evict_state, &m->view);
    m->view.requester = UVM_NO_BLOCK;
    uvm_evict_index_note(&m->view, requester, false);
    return 0;
}

/* Evict whom the policy picks. 1, 0 if it picks none, -1 with *err set: it broke a rule. */
static int evict_one(struct uvm_memory *m, uint32_t requester, struct uvm_evicted *evicted, struct err *err)
{
    for (uint32_t i = 0; m->draining != UVM_NO_BLOCK && i < m->cut_count; i++)
        if (in_shared(m, i, m->draining)) {
            evict(m, m->cut[i], share_to_evict(m, m->cut[i]), evicted);
            return 1;
        }
    for (int list = UVM_MEMORY_UNUSED; list <= UVM_MEMORY_DISCARDED; list++) {
        uint32_t idle = m->idle_oldest[list];
        if (idle == requester && idle != UVM_NO_BLOCK)
            idle = m->facts[idle].newer;
        if (idle == UVM_NO_BLOCK)
            continue;
        evict(m, idle, UINT32_MAX, evicted);
        return 1;
    }
    struct uvm_victim v;
    if (pick(m, requester, &v, err))
        return -1;
    const bool there = v.block < m->block_count;
    if (requester == UVM_NO_BLOCK && (v.block == UVM_NO_BLOCK || (there && takes_from_current_batch(m, v.block))))
        return 0; /* nothing of the current batch goes while nobody waits for it */
    if (!there || v.block == requester || !(m->facts[v.block].pieces & v.pieces))
        return err_set(err, "check violated: eviction policy %s picks VA block %u, pieces %x; it holds no such memory",
                       m->evict->head.name, v.block, v.pieces);
    evict(m, v.block, m->in_pieces ? v.pieces : share_to_evict(m, v.block), evicted);
    return 1;
}

int uvm_memory_evict_early(struct uvm_memory *m, struct uvm_evicted *evicted, struct err *err)
{
    int rc = evict_one(m, UVM_NO_BLOCK, evicted, err);
    m->evictions.early += rc == 1;
    return rc;
}

int uvm_memory_take(struct uvm_memory *m, uint32_t number, const struct page_mask *come, uint32_t *taken,
                    struct uvm_evicted *evicted, struct err *err)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct uvm_evict_block *f = &m->facts[number];
    bool counted = m->in_pieces || uvm_memory_shares(m, b);
    uint32_t held = counted ? uvm_memory_pieces_of(come) & ~f->pieces : b->chunk ? 0 : UINT32_MAX;
    uint32_t more = !held ? 0 : counted ? (uint32_t)__builtin_popcount(held) : uvm_memory_block_pieces(b);
    *taken = more;
    if (!held)
        return 1;
    if (by_chunks(m) ? !take_chunk(m, number, held, taken) : m->chunks && m->pieces_used + more > m->chunks * PIECES)
        return evict_one(m, number, evicted, err) < 0 ? -1 : 0;
    if (!b->chunk) {
        f->allocation_order = ++m->arrivals;
        link_last(m, number, &m->view.oldest, &m->view.newest);
    } else if (uvm_memory_shares(m, b)) {
        make_newest(m, number);
    }
    f->pieces |= held;
    b->chunk = true;
    b->dma_mapped = true;
    m->pieces_used += more;
    count_free(m);
    tell(m, number, UVM_EVICT_ALLOCATED);
    return 1;
}

uint64_t uvm_memory_free_chunks(const struct uvm_memory *m)
{
    return m->view.free_pieces / PIECES;
}

uint64_t uvm_memory_touched(const struct uvm_memory *m, size_t alloc)
{
    uint32_t first = m->allocs[alloc].first_page / ACTOR_BLOCK_PAGES;
    uint64_t pages = 0;
    for (uint32_t i = first; i < first + actor_alloc_blocks(&m->allocs[alloc]); i++) {
        struct page_mask all = uvm_memory_from_flat(&m->blocks[i], &m->used[i]);
        page_mask_or(&all, &all, &m->blocks[i].seen);
        pages += page_mask_count(&all);
    }
    return pages;
}

void uvm_memory_close_account(struct uvm_memory *m)
{
    for (uint32_t i = 0; i < m->block_count; i++) {
        struct page_mask used = uvm_memory_from_flat(&m->blocks[i], &m->used[i]);
        page_mask_and(&used, &used, &m->blocks[i].prefetched);
        enter(m, &m->blocks[i], &(struct uvm_account){.prefetched_used = page_mask_count(&used)});
    }
}

/* --- the closing account --- */

/* What came of an allocation and did not go is resident. */
static int check_allocation(const struct uvm_memory *m, size_t alloc, struct err *err)
{
    const struct uvm_account *a = &m->account[alloc];
    uint32_t first = m->allocs[alloc].first_page / ACTOR_BLOCK_PAGES;
    uint64_t resident = 0;
    for (uint32_t i = first; i < first + actor_alloc_blocks(&m->allocs[alloc]); i++)
        resident += page_mask_count(&m->blocks[i].block.resident);
    if (a->faults + a->prefetched - a->d2h - a->dropped == resident)
        return 0;
    return err_set(err, "check violated: %llu pages of allocation %zu came, %llu went, %llu are resident",
                   (unsigned long long)(a->faults + a->prefetched), alloc, (unsigned long long)(a->d2h + a->dropped),
                   (unsigned long long)resident);
}

/* Chunks in use are those of whole blocks and the shared ones, which hold what their blocks have of them. */
static bool chunks_agree(const struct uvm_memory *m, uint64_t pieces)
{
    uint64_t used = 0;
    if (!m->chunks)
        return true;
    if (m->in_pieces)
        return pieces + m->view.free_pieces == m->chunks * PIECES;
    for (uint32_t i = 0; i < m->block_count; i++)
        used += m->blocks[i].chunk && m->blocks[i].cut == UVM_NO_BLOCK;
    uint32_t *held = mem_zalloc((size_t)m->cut_count + 1, sizeof *held, NULL);
    bool agree = held != NULL;
    for (uint32_t k = 0; held && k < m->cut_count; k++)
        for (uint32_t i = 0; i < PIECES; i++) {
            uint32_t place = m->place[(size_t)k * PIECES + i];
            agree &= (place != 0) == (m->facts[m->cut[k]].pieces >> i & 1);
            held[place ? place - 1 : 0] += place != 0;
        }
    for (uint32_t i = 0; agree && i <= m->cut_count; i++) {
        agree = held[i] == m->shared[i] && held[i] <= PIECES;
        used += held[i] > 0;
    }
    free(held);
    if (!agree)
        return false;
    return used == m->chunks_used && used <= m->chunks && m->view.free_pieces == (m->chunks - used) * PIECES;
}

/* Memory, the order of service and the facts of the policy agree with what is resident. */
static int check_memory(const struct uvm_memory *m, struct err *err)
{
    uint64_t chunks = 0, linked = 0, used = 0;
    for (uint32_t i = 0; i < m->block_count; i++) {
        const struct uvm_memory_block *b = &m->blocks[i];
        const struct uvm_evict_block *f = &m->facts[i];
        unsigned resident = page_mask_count(&b->block.resident);
        struct page_mask backed = uvm_memory_pages_of(f->pieces);
        chunks += b->chunk;
        used += !b->chunk                                 ? 0
                : m->in_pieces || uvm_memory_shares(m, b) ? (unsigned)__builtin_popcount(f->pieces)
                                                          : uvm_memory_block_pieces(b);
        if (!page_mask_contains(&backed, &b->block.resident))
            return err_set(err, "check violated: VA block %u has resident pages but no chunk", i);
        struct page_mask reach = uvm_memory_to_flat(b, &b->block.resident);
        if (page_mask_intersects(&reach, &m->remote[i]))
            return err_set(err, "check violated: pages of VA block %u are resident and mapped remotely", i);
        page_mask_or(&reach, &reach, &m->remote[i]);
        if (!page_mask_equal(&reach, &m->access[i]))
            return err_set(err, "check violated: VA block %u reaches other pages than it has", i);
        if (resident != f->resident || b->chunk != (f->pieces != 0))
            return err_set(err, "check violated: %u pages of VA block %u are resident, %u are known", resident, i,
                           f->resident);
    }
    for (uint32_t i = m->view.oldest; i != UVM_NO_BLOCK && linked <= m->block_count; i = m->facts[i].newer)
        linked++;
    for (int list = UVM_MEMORY_UNUSED; list <= UVM_MEMORY_DISCARDED; list++)
        for (uint32_t i = m->idle_oldest[list]; i != UVM_NO_BLOCK && linked <= m->block_count; i = m->facts[i].newer)
            linked++;
    if (used == m->pieces_used && linked == chunks && chunks_agree(m, used))
        return 0;
    return err_set(err, "check violated: %llu pieces counted, %llu in use; %llu blocks hold some, %llu are in order",
                   (unsigned long long)used, (unsigned long long)m->pieces_used, (unsigned long long)chunks,
                   (unsigned long long)linked);
}

int uvm_memory_check(const struct uvm_memory *m, struct err *err)
{
    uint64_t resident = 0;
    for (uint32_t i = 0; i < m->block_count; i++)
        resident += page_mask_count(&m->blocks[i].block.resident);
    if (check_memory(m, err))
        return -1;
    if (m->pages_in - m->pages_out != resident)
        return err_set(err, "check violated: %llu pages came, %llu went, %llu are resident",
                       (unsigned long long)m->pages_in, (unsigned long long)m->pages_out, (unsigned long long)resident);
    for (size_t a = 0; a < m->alloc_count; a++)
        if (check_allocation(m, a, err))
            return -1;
    if (m->total.faults + m->total.prefetched != m->pages_in)
        return err_set(err, "check violated: %llu faulted and %llu prefetched pages are not the %llu that came",
                       (unsigned long long)m->total.faults, (unsigned long long)m->total.prefetched,
                       (unsigned long long)m->pages_in);
    if (m->total.d2h + m->total.dropped != m->pages_out)
        return err_set(err, "check violated: %llu pages went, %llu were copied back and %llu dropped",
                       (unsigned long long)m->pages_out, (unsigned long long)m->total.d2h,
                       (unsigned long long)m->total.dropped);
    return 0;
}
