/* The closing account of uvm_memory. */
#include <stdlib.h>

#include "replay/uvm/memory/uvm_memory_parts.h"
#include "trace/base/mem.h"

enum { PIECES = UVM_BLOCK_PIECES };

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
