#include <string.h>

#include "models/own/own_check_parts.h"

static void unlink_block(struct own_memory *m, uint32_t b)
{
    struct uvm_evict_block *f = &m->facts[b];
    *(f->older == UVM_NO_BLOCK ? &m->view.oldest : &m->facts[f->older].newer) = f->newer;
    *(f->newer == UVM_NO_BLOCK ? &m->view.newest : &m->facts[f->newer].older) = f->older;
}

static void link_newest(struct own_memory *m, uint32_t b)
{
    struct uvm_evict_block *f = &m->facts[b];
    f->older = m->view.newest;
    f->newer = UVM_NO_BLOCK;
    *(m->view.newest == UVM_NO_BLOCK ? &m->view.oldest : &m->facts[m->view.newest].newer) = b;
    m->view.newest = b;
}

uint32_t own_memory_whole(const struct own_memory *m, uint32_t b)
{
    const unsigned pieces = (m->block[b].end + UVM_BIG_PAGES - 1u) / UVM_BIG_PAGES;
    return pieces == 32 ? UINT32_MAX : (1u << pieces) - 1;
}

void own_memory_init(struct own_memory *m, struct random *random, uint64_t total_pieces, bool in_pieces)
{
    memset(m, 0, sizeof *m);
    for (uint32_t b = 0; b < OWN_BLOCKS; b++) {
        const uint64_t start = (uint64_t)b * UVM_BLOCK_BYTES;
        const bool cut = random_below(random, 4) == 0;
        uvm_block_init(&m->block[b], start + (cut ? UVM_PAGE_BYTES * random_below(random, 40) : 0),
                       start + UVM_BLOCK_BYTES - (cut ? UVM_PAGE_BYTES * random_below(random, 400) : 0));
        m->facts[b] = (struct uvm_evict_block){.block = &m->block[b], .older = UVM_NO_BLOCK, .newer = UVM_NO_BLOCK};
    }
    m->view = (struct uvm_evict_view){.blocks = m->facts,
                                      .block_count = OWN_BLOCKS,
                                      .oldest = UVM_NO_BLOCK,
                                      .newest = UVM_NO_BLOCK,
                                      .needs = UVM_NO_BLOCK,
                                      .free_pieces = total_pieces,
                                      .total_pieces = total_pieces,
                                      .piece_age = in_pieces ? m->age : NULL};
}

void own_memory_batch(struct own_memory *m)
{
    m->view.batch++;
    m->view.time_ns += 50000;
}

uint32_t own_memory_wants(const struct own_memory *m, uint32_t b, const struct page_mask *pages)
{
    uint32_t wants = 0;
    if (!m->facts[b].pieces)
        return own_memory_whole(m, b);
    PAGE_MASK_EACH(page, pages)
    wants |= 1u << page / UVM_BIG_PAGES;
    return wants & ~m->facts[b].pieces;
}

void own_memory_service(struct own_memory *m, uint32_t b, const struct page_mask *faulted, const struct page_mask *plan)
{
    struct uvm_evict_block *f = &m->facts[b];
    struct page_mask pages;
    page_mask_or(&pages, faulted, plan);
    const uint32_t wants = own_memory_wants(m, b, &pages);
    if (f->pieces)
        unlink_block(m, b);
    else
        f->arrived = m->services + 1;
    f->pieces |= wants;
    m->view.free_pieces -= (uint64_t)__builtin_popcount(wants);
    link_newest(m, b);
    m->services++;
    page_mask_or(&m->block[b].resident, &m->block[b].resident, &pages);
    for (unsigned piece = 0; piece < UVM_BLOCK_PIECES; piece++)
        if (page_mask_count_region(faulted, piece * UVM_BIG_PAGES, (piece + 1) * UVM_BIG_PAGES))
            m->age[b * UVM_BLOCK_PIECES + piece] = m->services;
    f->resident = page_mask_count(&m->block[b].resident);
    f->faulted += page_mask_count(faulted);
    f->prefetched += page_mask_count(plan);
    m->block[b].fault_pages += page_mask_count(faulted);
    f->first_batch = f->services ? f->first_batch : m->view.batch;
    f->first_ns = f->services ? f->first_ns : m->view.time_ns;
    f->services++;
    f->last_batch = f->asked_batch = m->view.batch;
    f->last_ns = m->view.time_ns;
}

void own_memory_evict(struct own_memory *m, uint32_t b, uint32_t pieces)
{
    struct uvm_evict_block *f = &m->facts[b];
    pieces &= f->pieces;
    for (unsigned piece = 0; piece < UVM_BLOCK_PIECES; piece++)
        if (pieces >> piece & 1)
            page_mask_clear_region(&m->block[b].resident, piece * UVM_BIG_PAGES, (piece + 1) * UVM_BIG_PAGES);
    f->pieces &= ~pieces;
    m->view.free_pieces += (uint64_t)__builtin_popcount(pieces);
    f->resident = page_mask_count(&m->block[b].resident);
    f->evictions++;
    if (!f->pieces) {
        unlink_block(m, b);
        f->older = f->newer = UVM_NO_BLOCK;
    }
}

bool own_memory_faults(const struct own_memory *m, uint32_t b, struct random *random, struct page_mask *faulted)
{
    const struct uvm_block *block = &m->block[b];
    page_mask_zero(faulted);
    page_mask_set_region(faulted, block->first, block->end);
    page_mask_andnot(faulted, faulted, &block->resident);
    struct page_mask some = {{0}};
    const unsigned most = 1 + random_below(random, random_below(random, 4) ? 8 : 200);
    for (unsigned i = 0; i < most; i++)
        page_mask_set(&some, block->first + random_below(random, block->end - block->first));
    page_mask_and(&some, &some, faulted);
    if (!page_mask_any(&some) && page_mask_any(faulted))
        page_mask_set(&some, page_mask_next(faulted, 0));
    *faulted = some;
    return page_mask_any(faulted);
}
