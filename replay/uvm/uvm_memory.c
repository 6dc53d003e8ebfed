#include "replay/uvm/uvm_memory.h"

#include <stdlib.h>

#include "trace/base/mem.h"

enum { PIECES = UVM_BLOCK_PIECES };

struct page_mask uvm_memory_flat(const struct uvm_memory_block *b, const struct page_mask *own)
{
    struct page_mask m = *own;
    if (b->block.offset)
        page_mask_up(&m, own, b->block.offset);
    return m;
}

struct page_mask uvm_memory_own(const struct uvm_memory_block *b, const struct page_mask *flat_mask)
{
    struct page_mask m = *flat_mask;
    if (b->block.offset)
        page_mask_down(&m, flat_mask, b->block.offset);
    return m;
}

void uvm_memory_map_remote(struct uvm_memory *m, uint32_t number, const struct page_mask *pages, bool readonly)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask reach = uvm_memory_flat(b, pages);
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
    struct page_mask gone = uvm_memory_flat(b, pages), used;
    page_mask_and(&gone, &gone, &m->remote[number]);
    if (!page_mask_any(&gone))
        return;
    page_mask_and(&used, &gone, &m->used[number]);
    struct page_mask seen = uvm_memory_own(b, &used); /* that they were touched is remembered */
    page_mask_or(&b->seen, &b->seen, &seen);
    page_mask_andnot(&m->used[number], &m->used[number], &gone);
    page_mask_andnot(&m->access[number], &m->access[number], &gone);
    page_mask_andnot(&m->remote[number], &m->remote[number], &gone);
    page_mask_andnot(&m->readonly[number], &m->readonly[number], &gone);
}

/* Pages that the CPU keeps as well: read-mostly memory that both may read. */
static void duplicate(struct uvm_memory *m, uint32_t number, const struct page_mask *copied)
{
    struct page_mask both = uvm_memory_flat(&m->blocks[number], copied);
    page_mask_andnot(&m->blocks[number].writable, &m->blocks[number].writable, copied);
    page_mask_or(&m->readonly[number], &m->readonly[number], &both);
    m->any_readonly = true;
}

uint32_t uvm_memory_own_copy(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask mapped, own = uvm_memory_flat(b, pages);
    page_mask_and(&mapped, pages, &b->host_mapped);
    page_mask_andnot(&b->host_mapped, &b->host_mapped, pages);
    page_mask_andnot(&b->host_valid, &b->host_valid, pages);
    page_mask_andnot(&m->readonly[number], &m->readonly[number], &own);
    return page_mask_count(&mapped);
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
        b->block.populated = a->host;
        m->any_read_mostly |= (a->advice & ACTOR_READ_MOSTLY) != 0;
        if (uvm_memory_accessed_by(m, b) && a->host)
            uvm_memory_map_remote(m, number, &all, false);
    }
}

int uvm_memory_init(struct uvm_memory *m, const struct actor_alloc *allocs, size_t n, uint64_t chunks, struct err *err)
{
    *m = (struct uvm_memory){.allocs = allocs, .alloc_count = n, .chunks = chunks};
    m->block_count = actor_space_pages(allocs, n) / ACTOR_BLOCK_PAGES;
    m->evict = uvm_evict_of(NULL);
    m->draining = UVM_NO_BLOCK;
    for (int list = UVM_MEMORY_USED; list <= UVM_MEMORY_DISCARDED; list++)
        m->idle_oldest[list] = m->idle_newest[list] = UVM_NO_BLOCK;
    m->cut = mem_zalloc(2 * n, sizeof *m->cut, err); /* an allocation has two edges */
    m->shared = mem_zalloc(2 * n + 1, sizeof *m->shared, err);
    m->place = mem_zalloc(2 * n, PIECES * sizeof *m->place, err);
    m->blocks = mem_zalloc(m->block_count, sizeof *m->blocks, err);
    m->facts = mem_zalloc(m->block_count, sizeof *m->facts, err);
    m->left_batch = chunks ? mem_zalloc(m->block_count, ACTOR_BLOCK_PAGES * sizeof *m->left_batch, err) : NULL;
    m->access = mem_zalloc(m->block_count, sizeof *m->access, err);
    m->used = mem_zalloc(m->block_count, sizeof *m->used, err);
    m->dirty = mem_zalloc(m->block_count, sizeof *m->dirty, err);
    m->remote = mem_zalloc(m->block_count, sizeof *m->remote, err);
    m->readonly = mem_zalloc(m->block_count, sizeof *m->readonly, err);
    m->account = mem_zalloc(n, sizeof *m->account, err);
    if (!m->cut || !m->shared || !m->place || !m->blocks || !m->facts || (chunks && !m->left_batch) || !m->access ||
        !m->used || !m->dirty || !m->remote || !m->readonly || !m->account)
        return -1;
    m->view = (struct uvm_evict_view){.blocks = m->facts,
                                      .block_count = m->block_count,
                                      .oldest = UVM_NO_BLOCK,
                                      .newest = UVM_NO_BLOCK,
                                      .needs = UVM_NO_BLOCK,
                                      .free_pieces = chunks * PIECES,
                                      .total_pieces = chunks * PIECES};
    for (uint32_t i = 0; i < n; i++)
        lay_out(m, i, allocs[i].first_page / ACTOR_BLOCK_PAGES);
    return 0;
}

void uvm_memory_release(struct uvm_memory *m)
{
    free(m->blocks);
    free(m->facts);
    free(m->cut);
    free(m->shared);
    free(m->place);
    free(m->left_batch);
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

void uvm_memory_enter(struct uvm_memory *m, const struct uvm_memory_block *b, const struct uvm_account *what)
{
    static const struct uvm_account nothing;
    uvm_account_add(&m->total, what, &nothing);
    uvm_account_add(&m->account[b->alloc], what, &nothing);
}

void uvm_memory_note_mapped(struct uvm_memory *m, uint32_t number, uint32_t pages, bool service)
{
    uvm_memory_enter(m, &m->blocks[number], &(struct uvm_account){.services = service, .mapped = pages});
}

void uvm_memory_leave(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask used = uvm_memory_own(b, &m->used[number]), hit;
    page_mask_and(&used, &used, pages);
    page_mask_or(&b->seen, &b->seen, &used);
    page_mask_and(&hit, &used, &b->prefetched);
    uvm_memory_enter(m, b, &(struct uvm_account){.prefetched_used = page_mask_count(&hit)});
    unsigned gone_pages = page_mask_count(pages);
    m->went += gone_pages;
    m->facts[number].resident -= gone_pages;
    page_mask_andnot(&b->prefetched, &b->prefetched, pages);
    page_mask_andnot(&b->block.resident, &b->block.resident, pages);
    struct page_mask gone = uvm_memory_flat(b, pages);
    page_mask_andnot(&m->access[number], &m->access[number], &gone);
    page_mask_andnot(&m->used[number], &m->used[number], &gone);
    page_mask_andnot(&m->dirty[number], &m->dirty[number], &gone);
    page_mask_andnot(&m->readonly[number], &m->readonly[number], &gone);
}

/* Of the pages that come, those that an eviction sent away not long ago. */
static void count_returned(struct uvm_memory *m, uint32_t number, const struct page_mask *come)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask again;
    page_mask_and(&again, &b->evicted, come);
    if (!page_mask_any(&again))
        return;
    PAGE_MASK_EACH(page, &again)
    m->evictions.returned +=
        m->view.batch - m->left_batch[(size_t)number * ACTOR_BLOCK_PAGES + page] <= UVM_RETURN_BATCHES;
    page_mask_andnot(&b->evicted, &b->evicted, come);
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
        uvm_memory_newest(m, number);
    uvm_memory_tell(m, number, UVM_EVICT_SERVICED);
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
    uvm_memory_enter(
        m, b,
        &(struct uvm_account){
            .services = 1, .faults = faults, .prefetched = page_mask_count(planned), .h2d = page_mask_count(copied)});
    m->came += page_mask_count(&come);
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
    struct page_mask reach = uvm_memory_flat(b, &come);
    page_mask_or(&m->access[number], &m->access[number], &reach);
    b->block.populated = true;
    b->block.fault_pages += faults;
    note_service(m, number, &come, faults);
    return 0;
}

void uvm_memory_hide(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    page_mask_andnot(&m->access[number], &m->access[number], pages);
}

void uvm_memory_show(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask here = uvm_memory_flat(b, &b->block.resident);
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
    uvm_memory_enter(m, b, &(struct uvm_account){.d2h = copied, .dropped = page_mask_count(&back) - copied});
    uvm_memory_leave(m, number, &back);
    page_mask_or(&b->host_valid, &b->host_valid, pages);
    page_mask_or(&b->host_mapped, &b->host_mapped, pages);
    page_mask_or(&b->writable, &b->writable, pages);
    b->block.populated = true;
    b->block.fault_pages = 0;
    if (b->chunk && !m->facts[number].resident && b->list == UVM_MEMORY_USED && !uvm_memory_shares(m, b))
        uvm_memory_emptied(m, number, UVM_MEMORY_UNUSED);
    if (uvm_memory_accessed_by(m, b))
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
    uvm_memory_enter(m, b, &(struct uvm_account){.dropped = page_mask_count(&out)});
    uvm_memory_leave(m, number, &out);
    b->host_valid = b->host_mapped = b->writable = b->evicted = none;
    b->block.populated = false;
    b->block.fault_pages = 0;
    if (held && !uvm_memory_shares(m, b))
        uvm_memory_emptied(m, number, UVM_MEMORY_DISCARDED);
}

/* Every page of the block that the GPU ever touched. */
static struct page_mask touched(const struct uvm_memory *m, uint32_t number)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask all = uvm_memory_own(b, &m->used[number]);
    page_mask_or(&all, &all, &b->seen);
    return all;
}

uint64_t uvm_memory_touched(const struct uvm_memory *m, size_t alloc)
{
    uint32_t first = m->allocs[alloc].first_page / ACTOR_BLOCK_PAGES;
    uint64_t pages = 0;
    for (uint32_t i = first; i < first + actor_alloc_blocks(&m->allocs[alloc]); i++) {
        struct page_mask all = touched(m, i);
        pages += page_mask_count(&all);
    }
    return pages;
}

void uvm_memory_close_account(struct uvm_memory *m)
{
    for (uint32_t i = 0; i < m->block_count; i++) {
        struct page_mask used = uvm_memory_own(&m->blocks[i], &m->used[i]);
        page_mask_and(&used, &used, &m->blocks[i].prefetched);
        uvm_memory_enter(m, &m->blocks[i], &(struct uvm_account){.prefetched_used = page_mask_count(&used)});
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
                                                          : uvm_memory_whole(b);
        if (!page_mask_contains(&backed, &b->block.resident))
            return err_set(err, "check violated: VA block %u has resident pages but no chunk", i);
        struct page_mask reach = uvm_memory_flat(b, &b->block.resident);
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
    if (m->came - m->went != resident)
        return err_set(err, "check violated: %llu pages came, %llu went, %llu are resident",
                       (unsigned long long)m->came, (unsigned long long)m->went, (unsigned long long)resident);
    for (size_t a = 0; a < m->alloc_count; a++)
        if (check_allocation(m, a, err))
            return -1;
    if (m->total.faults + m->total.prefetched != m->came)
        return err_set(err, "check violated: %llu faulted and %llu prefetched pages are not the %llu that came",
                       (unsigned long long)m->total.faults, (unsigned long long)m->total.prefetched,
                       (unsigned long long)m->came);
    if (m->total.d2h + m->total.dropped != m->went)
        return err_set(err, "check violated: %llu pages went, %llu were copied back and %llu dropped",
                       (unsigned long long)m->went, (unsigned long long)m->total.d2h,
                       (unsigned long long)m->total.dropped);
    return 0;
}
