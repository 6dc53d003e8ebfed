/* uvm_memory_parts: what uvm_memory.c, uvm_memory_room.c (memory, eviction) and uvm_memory_check.c share. */
#ifndef REPLAY_UVM_UVM_MEMORY_PARTS_H
#define REPLAY_UVM_UVM_MEMORY_PARTS_H

#include "replay/uvm/memory/uvm_memory.h"

/* A block's mask in the numbering of the flat masks, and back. */
struct page_mask uvm_memory_flat(const struct uvm_memory_block *b, const struct page_mask *own);
struct page_mask uvm_memory_own(const struct uvm_memory_block *b, const struct page_mask *flat);

/* Enter something that happened to a block. */
void uvm_memory_enter(struct uvm_memory *m, const struct uvm_memory_block *b, const struct uvm_account *what);

/* Pages leave the GPU: account for their use and take them from every mask. */
void uvm_memory_leave(struct uvm_memory *m, uint32_t number, const struct page_mask *pages);

/* A block that holds memory becomes the newest in the order of service. */
void uvm_memory_newest(struct uvm_memory *m, uint32_t number);

/* Nothing of a block that holds memory is resident any more: it goes to the tail of the unused or discarded ones. */
void uvm_memory_emptied(struct uvm_memory *m, uint32_t number, enum uvm_memory_list list);

static inline void uvm_memory_tell(struct uvm_memory *m, uint32_t number, enum uvm_evict_event event)
{
    if (m->evict->on_service)
        m->evict->on_service(m->evict_state, &m->view, number, event);
}

/* Whether what lies with the CPU is mapped by the GPU at once; memory that is duplicated is not. */
static inline bool uvm_memory_accessed_by(const struct uvm_memory *m, const struct uvm_memory_block *b)
{
    return (m->allocs[b->alloc].advice & (ACTOR_ACCESSED_BY | ACTOR_READ_MOSTLY)) == ACTOR_ACCESSED_BY;
}

/* Whether a block's memory is pieces of shared chunks: it is cut short, and memory is limited and handed out in chunks.
 */
static inline bool uvm_memory_shares(const struct uvm_memory *m, const struct uvm_memory_block *b)
{
    return m->chunks && !m->in_pieces && b->cut != UVM_NO_BLOCK;
}

/* The pieces of a cut block that lie in a shared chunk. */
uint32_t uvm_memory_in_shared(const struct uvm_memory *m, uint32_t cut, uint32_t chunk);

/* 64 KiB pieces of memory that back a whole block. */
static inline uint32_t uvm_memory_whole(const struct uvm_memory_block *b)
{
    return (uint32_t)(b->block.end - b->block.first + UVM_BIG_PAGES - 1) / UVM_BIG_PAGES;
}

/* The pieces that hold a page of the mask. */
static inline uint32_t uvm_memory_pieces_of(const struct page_mask *pages)
{
    uint32_t held = 0;
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++)
        for (unsigned k = 0; k < 4; k++)
            held |= (uint32_t)((pages->w[i] >> 16 * k & 0xFFFF) != 0) << (4 * i + k);
    return held;
}

/* The pages of pieces. */
static inline struct page_mask uvm_memory_pages_of(uint32_t held)
{
    struct page_mask pages = {{0}};
    for (; held; held &= held - 1) {
        unsigned piece = (unsigned)__builtin_ctz(held);
        pages.w[piece / 4] |= 0xFFFFull << 16 * (piece % 4);
    }
    return pages;
}

#endif
