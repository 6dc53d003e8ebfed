#include "replay/uvm/uvm_memory.h"

#include <stdlib.h>

#include "trace/base/mem.h"

enum { PIECES = UVM_BLOCK_BYTES / UVM_BIG_BYTES };

/* dst = src moved up by n pages. */
static void shift_up(struct page_mask *dst, const struct page_mask *src, unsigned n)
{
    unsigned words = n / 64, bits = n % 64;
    for (int i = PAGE_MASK_WORDS - 1; i >= 0; i--) {
        int from = i - (int)words;
        uint64_t word = from >= 0 ? src->w[from] << bits : 0;
        if (bits && from >= 1)
            word |= src->w[from - 1] >> (64 - bits);
        dst->w[i] = word;
    }
}

/* dst = src moved down by n pages. */
static void shift_down(struct page_mask *dst, const struct page_mask *src, unsigned n)
{
    unsigned words = n / 64, bits = n % 64;
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++) {
        unsigned from = i + words;
        uint64_t word = from < PAGE_MASK_WORDS ? src->w[from] >> bits : 0;
        if (bits && from + 1 < PAGE_MASK_WORDS)
            word |= src->w[from + 1] << (64 - bits);
        dst->w[i] = word;
    }
}

/* A block's mask in the numbering of the flat masks. */
static struct page_mask flat(const struct uvm_memory_block *b, const struct page_mask *own)
{
    struct page_mask m = *own;
    if (b->block.offset)
        shift_up(&m, own, b->block.offset);
    return m;
}

/* A flat mask in the block's own numbering. */
static struct page_mask own(const struct uvm_memory_block *b, const struct page_mask *flat_mask)
{
    struct page_mask m = *flat_mask;
    if (b->block.offset)
        shift_down(&m, flat_mask, b->block.offset);
    return m;
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
        b->older = b->newer = UVM_NO_BLOCK;
        struct page_mask all = {{0}};
        page_mask_set_region(&all, b->block.first, b->block.end);
        if (a->host)
            b->host_valid = b->host_mapped = all;
        b->block.populated = a->host;
        if (a->advice & (ACTOR_ACCESSED_BY | ACTOR_PREFERRED_HOST))
            m->access[number] = flat(b, &all); /* remote mappings: never a fault, never resident */
    }
}

int uvm_memory_init(struct uvm_memory *m, const struct actor_alloc *allocs, size_t n, uint64_t chunks, struct err *err)
{
    *m = (struct uvm_memory){.allocs = allocs, .alloc_count = n, .chunks = chunks};
    m->oldest = m->newest = UVM_NO_BLOCK;
    m->block_count = actor_space_pages(allocs, n) / ACTOR_BLOCK_PAGES;
    m->blocks = mem_zalloc(m->block_count, sizeof *m->blocks, err);
    m->access = mem_zalloc(m->block_count, sizeof *m->access, err);
    m->used = mem_zalloc(m->block_count, sizeof *m->used, err);
    m->dirty = mem_zalloc(m->block_count, sizeof *m->dirty, err);
    m->account = mem_zalloc(n, sizeof *m->account, err);
    if (!m->blocks || !m->access || !m->used || !m->dirty || !m->account)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        lay_out(m, i, allocs[i].first_page / ACTOR_BLOCK_PAGES);
    return 0;
}

void uvm_memory_release(struct uvm_memory *m)
{
    free(m->blocks);
    free(m->access);
    free(m->used);
    free(m->dirty);
    free(m->account);
    *m = (struct uvm_memory){0};
}

void uvm_account_add(struct uvm_account *to, const struct uvm_account *plus, const struct uvm_account *minus)
{
    to->services += plus->services - minus->services;
    to->faults += plus->faults - minus->faults;
    to->prefetched += plus->prefetched - minus->prefetched;
    to->prefetched_used += plus->prefetched_used - minus->prefetched_used;
    to->h2d += plus->h2d - minus->h2d;
    to->d2h += plus->d2h - minus->d2h;
    to->dropped += plus->dropped - minus->dropped;
    to->evictions += plus->evictions - minus->evictions;
}

/* Enter something that happened to a block. */
static void enter(struct uvm_memory *m, const struct uvm_memory_block *b, const struct uvm_account *what)
{
    static const struct uvm_account nothing;
    uvm_account_add(&m->total, what, &nothing);
    uvm_account_add(&m->account[b->alloc], what, &nothing);
}

static void unlink_block(struct uvm_memory *m, uint32_t number)
{
    struct uvm_memory_block *b = &m->blocks[number];
    if (b->older != UVM_NO_BLOCK)
        m->blocks[b->older].newer = b->newer;
    else
        m->oldest = b->newer;
    if (b->newer != UVM_NO_BLOCK)
        m->blocks[b->newer].older = b->older;
    else
        m->newest = b->older;
    b->older = b->newer = UVM_NO_BLOCK;
}

static void link_newest(struct uvm_memory *m, uint32_t number)
{
    struct uvm_memory_block *b = &m->blocks[number];
    b->older = m->newest;
    b->newer = UVM_NO_BLOCK;
    if (m->newest != UVM_NO_BLOCK)
        m->blocks[m->newest].newer = number;
    else
        m->oldest = number;
    m->newest = number;
}

/* Pages leave the GPU: account for their use and take them from every mask. */
static void leave(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask used = own(b, &m->used[number]), hit;
    page_mask_and(&used, &used, pages);
    page_mask_or(&b->seen, &b->seen, &used);
    page_mask_and(&hit, &used, &b->prefetched);
    enter(m, b, &(struct uvm_account){.prefetched_used = page_mask_count(&hit)});
    m->went += page_mask_count(pages);
    page_mask_andnot(&b->prefetched, &b->prefetched, pages);
    page_mask_andnot(&b->block.resident, &b->block.resident, pages);
    struct page_mask gone = flat(b, pages);
    page_mask_andnot(&m->access[number], &m->access[number], &gone);
    page_mask_andnot(&m->used[number], &m->used[number], &gone);
    page_mask_andnot(&m->dirty[number], &m->dirty[number], &gone);
}

/* 64 KiB pieces of memory that back a block. */
static uint64_t pieces(const struct uvm_memory_block *b)
{
    return (uint64_t)(b->block.end - b->block.first + UVM_BIG_PAGES - 1) / UVM_BIG_PAGES;
}

static void evict(struct uvm_memory *m, uint32_t number, struct uvm_evicted *evicted)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask out = b->block.resident, back = out;
    if (m->allocs[b->alloc].advice & ACTOR_READ_MOSTLY) {
        struct page_mask dirty = own(b, &m->dirty[number]), clean;
        page_mask_andnot(&clean, &b->host_valid, &dirty);
        page_mask_andnot(&back, &out, &clean);
    }
    *evicted = (struct uvm_evicted){number, page_mask_count(&back), page_mask_runs(&back)};
    enter(m, b,
          &(struct uvm_account){
              .d2h = evicted->copied_pages, .dropped = page_mask_count(&out) - evicted->copied_pages, .evictions = 1});
    page_mask_or(&b->host_valid, &b->host_valid, &back);
    leave(m, number, &out);
    unlink_block(m, number);
    b->chunk = false;
    m->pieces_used -= pieces(b);
}

bool uvm_memory_take_chunk(struct uvm_memory *m, uint32_t number, struct uvm_evicted *evicted)
{
    struct uvm_memory_block *b = &m->blocks[number];
    if (m->chunks && m->pieces_used + pieces(b) > m->chunks * PIECES) {
        evict(m, m->oldest, evicted);
        return false;
    }
    b->chunk = true;
    b->known = true;
    m->pieces_used += pieces(b);
    link_newest(m, number);
    return true;
}

uint64_t uvm_memory_free_chunks(const struct uvm_memory *m)
{
    return m->chunks ? (m->chunks * PIECES - m->pieces_used) / PIECES : 0;
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
    m->came += page_mask_count(&come);
    page_mask_or(&b->block.resident, &b->block.resident, &come);
    page_mask_or(&b->prefetched, &b->prefetched, planned);
    page_mask_andnot(&b->host_mapped, &b->host_mapped, &come);
    if (!(m->allocs[b->alloc].advice & ACTOR_READ_MOSTLY))
        page_mask_andnot(&b->host_valid, &b->host_valid, &come);
    struct page_mask reach = flat(b, &come);
    page_mask_or(&m->access[number], &m->access[number], &reach);
    b->block.populated = true;
    b->block.fault_pages += faults;
    if (m->newest != number) {
        unlink_block(m, number);
        link_newest(m, number);
    }
    return 0;
}

uint32_t uvm_memory_to_host(struct uvm_memory *m, uint32_t number, const struct page_mask *pages)
{
    struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask back;
    page_mask_and(&back, &b->block.resident, pages);
    uint32_t copied = page_mask_count(&back);
    enter(m, b, &(struct uvm_account){.d2h = copied});
    leave(m, number, &back);
    page_mask_or(&b->host_valid, &b->host_valid, pages);
    page_mask_or(&b->host_mapped, &b->host_mapped, pages);
    b->block.populated = true;
    b->block.fault_pages = 0;
    return copied;
}

/* Every page of the block that the GPU ever touched. */
static struct page_mask touched(const struct uvm_memory *m, uint32_t number)
{
    const struct uvm_memory_block *b = &m->blocks[number];
    struct page_mask all = own(b, &m->used[number]);
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
        struct page_mask used = own(&m->blocks[i], &m->used[i]);
        page_mask_and(&used, &used, &m->blocks[i].prefetched);
        enter(m, &m->blocks[i], &(struct uvm_account){.prefetched_used = page_mask_count(&used)});
    }
}

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

int uvm_memory_check(const struct uvm_memory *m, struct err *err)
{
    uint64_t resident = 0, chunks = 0, linked = 0, used = 0;
    for (uint32_t i = 0; i < m->block_count; i++) {
        const struct uvm_memory_block *b = &m->blocks[i];
        unsigned pages = page_mask_count(&b->block.resident);
        resident += pages;
        chunks += b->chunk;
        used += b->chunk ? pieces(b) : 0;
        if (pages && !b->chunk)
            return err_set(err, "check violated: VA block %u has resident pages but no chunk", i);
    }
    for (uint32_t i = m->oldest; i != UVM_NO_BLOCK && linked <= m->block_count; i = m->blocks[i].newer)
        linked++;
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
    if (used != m->pieces_used || linked != chunks || (m->chunks && used > m->chunks * PIECES))
        return err_set(err,
                       "check violated: %llu pieces counted, %llu in use; %llu blocks hold some, %llu are in order",
                       (unsigned long long)used, (unsigned long long)m->pieces_used, (unsigned long long)chunks,
                       (unsigned long long)linked);
    if (m->total.d2h + m->total.dropped != m->went)
        return err_set(err, "check violated: %llu pages went, %llu were copied back and %llu dropped",
                       (unsigned long long)m->went, (unsigned long long)m->total.d2h,
                       (unsigned long long)m->total.dropped);
    return 0;
}
