/* uvm_memory: where each page of each VA block is, and the facts by which an eviction policy chooses.
 *
 * A 2 MiB chunk of GPU memory backs each whole block with a resident page. Blocks that their allocations' edges cut
 * short share chunks by 64 KiB pieces. A shared chunk moves in the order of service only when a block gets a piece of
 * it, and is evicted whole, block after block. A policy with capacity=piece backs every block by the pieces that hold
 * its pages. Masks of a block are in the block's own numbering (models/uvm/block.h); those that the multiprocessors
 * read, `access` and `used`, are flat: bit page % 64 of word page / 64. Source: driver 545.23.06, uvm_pmm_gpu.c (root
 * chunks, pick_root_chunk_to_evict()), uvm_va_block.c (uvm_va_block_evict_chunks()): residents are copied back clean or
 * not, read-duplicated pages are dropped. */
#pragma once

#include "models/uvm/uvm_evict_index.h"
#include "trace/event/actor.h"

/* Lists of blocks that hold memory, in the order of eviction. */
enum uvm_memory_list {
    UVM_MEMORY_USED,      /* least recently serviced first: the policy picks */
    UVM_MEMORY_UNUSED,    /* the CPU took all */
    UVM_MEMORY_DISCARDED, /* the program discarded the data; the policy does not pick from these two */
};

struct uvm_memory_block {
    struct uvm_block block;       /* block.resident: pages resident on the GPU */
    struct page_mask prefetched;  /* resident, and not because they faulted */
    struct page_mask host_valid;  /* the CPU's memory holds the data */
    struct page_mask host_mapped; /* and the CPU has them mapped */
    struct page_mask writable;    /* of read-mostly memory: mapped so that the CPU can write as well. The advice takes
                                     that from what the CPU has written before; a duplicate has lost it */
    struct page_mask seen;        /* ever touched by the GPU; of resident pages only once they are evicted */
    struct page_mask evicted;     /* copied back by an eviction, and not come again */
    uint32_t evict_batch;         /* of the last eviction of any */
    uint32_t alloc;
    bool chunk;                /* has a chunk, or a piece of one */
    bool dma_mapped;           /* its CPU pages are mapped for DMA: it has had a chunk before */
    uint32_t cut;              /* its place among the blocks that are cut short; UVM_NO_BLOCK: it is whole */
    enum uvm_memory_list list; /* that it stands in, if it has one */
};

/* Counts of what moved, in pages of 4 KiB unless another unit is named. */
struct uvm_account {
    uint64_t services; /* of VA blocks */
    uint64_t faults, prefetched, prefetched_used;
    uint64_t mapped; /* faulted, but only mapped remotely or made writable: nothing migrated */
    uint64_t h2d, d2h, dropped;
    uint64_t evictions; /* of VA blocks */
};

/* Counts of evictions, in pages. */
struct uvm_evictions {
    uint64_t pages;    /* evicted, dropped ones included */
    uint64_t back;     /* of them copied back to the CPU */
    uint64_t returned; /* of those, migrated again within UVM_RETURN_BATCHES batches */
    uint64_t unused;   /* evicted, prefetched before and never touched */
    uint64_t early;    /* VA blocks evicted before or after a batch, not during its services */
};

enum { UVM_RETURN_BATCHES = 20 }; /* a routine of the driver */

/* to += plus - minus */
void uvm_account_add(struct uvm_account *to, const struct uvm_account *plus, const struct uvm_account *minus);

struct uvm_memory {
    const struct actor_alloc *allocs;
    size_t alloc_count;
    uint32_t block_count;
    struct uvm_memory_block *blocks;
    struct page_mask *access;      /* pages the GPU accesses without a fault: resident, or mapped remotely */
    struct page_mask *used;        /* of those, touched since they migrated */
    struct page_mask *dirty;       /* of read-mostly memory: written by the GPU */
    struct page_mask *remote;      /* of `access`, mapped remotely: they lie with the CPU */
    struct page_mask *readonly;    /* of `access`, mapped for reading: a write faults */
    bool any_remote, any_readonly; /* some were, once */
    bool any_read_mostly;          /* some memory is */
    bool remote_after_eviction;    /* what the policy evicts stays mapped, for reading */
    uint64_t chunks;               /* of 2 MiB; 0: unlimited */
    uint64_t pieces_used;          /* of 64 KiB, 32 to a chunk */
    struct uvm_evict_block *facts; /* for the policy, of each block */
    struct uvm_evict_view view;
    struct uvm_evict_index index;                   /* the view's, from the first pick on */
    uint32_t idle_oldest[UVM_MEMORY_DISCARDED + 1]; /* of the lists but UVM_MEMORY_USED, which is the view's */
    uint32_t idle_newest[UVM_MEMORY_DISCARDED + 1];
    uint64_t chunks_used; /* shared ones once */
    uint32_t *cut;        /* the blocks that are cut short */
    uint32_t cut_count;
    uint32_t *place;   /* [UVM_BLOCK_PIECES * cut + piece]: the shared chunk it lies in, + 1; 0: in none */
    uint8_t *shared;   /* pieces taken of each shared chunk; room for one more than blocks are cut */
    uint32_t draining; /* the shared chunk that is being evicted; UVM_NO_BLOCK: none */
    const struct uvm_evict_policy *evict;
    void *evict_state;
    bool in_pieces;               /* every block gets memory in pieces */
    uint32_t *piece_age;          /* see struct uvm_evict_view; NULL unless in_pieces */
    uint32_t *evict_batch;        /* of each page, the batch of its last eviction; NULL where memory is unlimited */
    uint32_t arrivals, visits;    /* allocations to blocks, services, so far */
    uint64_t pages_in, pages_out; /* pages made resident, no longer resident */
    struct uvm_account total;     /* of all that moved */
    struct uvm_account *account;  /* the same by allocation */
    struct uvm_evictions evictions;
};

/* Lay out the blocks of all allocations. Nothing is resident; released with uvm_memory_release() in any case. */
int uvm_memory_init(struct uvm_memory *m, const struct actor_alloc *allocs, size_t n, uint64_t chunks, struct err *err);
void uvm_memory_release(struct uvm_memory *m);

/* Sets the eviction policy, before anything is resident. NULL: the driver's, which is the default;
 * params: head.state_size bytes with the parameters stored, or NULL for the defaults; copied. */
int uvm_memory_evict_by(struct uvm_memory *m, const struct uvm_evict_policy *policy, const void *params,
                        struct err *err);

/* The page of a block's own numbering, from a page of the space. */
static inline unsigned uvm_memory_page(const struct uvm_memory_block *b, uint32_t page)
{
    return page % ACTOR_BLOCK_PAGES - b->block.offset;
}

/* The result of a block's eviction. */
struct uvm_evicted {
    uint32_t number;         /* of the block */
    uint32_t copied_pages;   /* back to the CPU */
    uint32_t runs;           /* contiguous runs of them */
    uint32_t pieces;         /* of memory that are free now */
    bool more;               /* its chunk has other blocks' pages, which are evicted next */
    struct page_mask copied; /* the pages that are copied back */
};

/* Begins batch number `batch`, from 1. The services to come are of it. */
void uvm_memory_begin_batch(struct uvm_memory *m, uint32_t batch, int64_t fetch_ns);

/* Allocates memory for the pages `come` of block `number`. 1: the block has it; 0: there was not enough, and a victim
 * was evicted into *evicted: call again; -1 with *err set. *pieces: how many were allocated. */
int uvm_memory_take(struct uvm_memory *m, uint32_t number, const struct page_mask *come, uint32_t *pieces,
                    struct uvm_evicted *evicted, struct err *err);

/* Evicts a victim that nobody waits for. 1: into *evicted; 0: only blocks of the current batch are left; -1. */
int uvm_memory_evict_early(struct uvm_memory *m, struct uvm_evicted *evicted, struct err *err);

/* Whole chunks still free; 0 where unlimited. */
uint64_t uvm_memory_free_chunks(const struct uvm_memory *m);

/* Make the pages of `faulted` and `planned` (disjoint, none resident) resident; the block has a chunk and becomes the
 * newest. *copied gets those that had to be copied from the CPU. -1 with *err set if a page is resident already. */
int uvm_memory_migrate(struct uvm_memory *m, uint32_t number, const struct page_mask *faulted,
                       const struct page_mask *planned, struct page_mask *copied, struct err *err);

/* Pages of a block that the GPU may read alone: a write to them faults. */
void uvm_memory_protect(struct uvm_memory *m, uint32_t number, const struct page_mask *pages);

/* Maps pages (flat) on the GPU; skips those that are not resident any more. */
void uvm_memory_map(struct uvm_memory *m, uint32_t number, const struct page_mask *pages);

/* Counts faulted pages that were served without a migration; `service`: nothing else was in that service. */
void uvm_memory_note_mapped(struct uvm_memory *m, uint32_t number, uint32_t pages, bool service);

/* Maps pages of a block that are not resident remotely; populates those that are nowhere in the CPU's memory. */
void uvm_memory_map_remote(struct uvm_memory *m, uint32_t number, const struct page_mask *pages, bool readonly);

/* Unmaps remote pages of a block on the GPU; skips those that are not mapped. */
void uvm_memory_unmap_remote(struct uvm_memory *m, uint32_t number, const struct page_mask *pages);

/* Invalidates the CPU's copies of pages that the GPU writes. Returns how many the CPU had mapped. */
uint32_t uvm_memory_invalidate_host(struct uvm_memory *m, uint32_t number, const struct page_mask *pages);

/* Moves pages back to the CPU, which keeps them mapped. Returns how many were copied: not those that both held. */
uint32_t uvm_memory_to_host(struct uvm_memory *m, uint32_t number, const struct page_mask *pages);

/* The program discards a block: its data is lost on both sides, nothing moves, nobody maps it; a block with a chunk of
 * its own keeps that until it is touched again or the chunk is wanted. Pages that are touched come as those that never
 * held data: for the prefetcher, too, they count as not there (inferred). Source: driver 580 and later (discard with
 * unmapping); the list: its pick_root_chunk_to_evict(). */
void uvm_memory_discard(struct uvm_memory *m, uint32_t number);

/* Distinct pages of an allocation touched by the GPU so far. */
uint64_t uvm_memory_touched(const struct uvm_memory *m, size_t alloc);

/* Credit the touched among the prefetched pages that are still resident; once, at the end. */
void uvm_memory_close_account(struct uvm_memory *m);

/* Check the invariants: pages that came less those that left are resident; faulted and prefetched pages are those that
 * came, also for each allocation; every resident page has memory, counted once; chunks, blocks with residents, order of
 * service and the policy's facts agree. -1 with *err set. */
int uvm_memory_check(const struct uvm_memory *m, struct err *err);

/* --- for the driver --- */

/* Converts a block's mask to the numbering of the flat masks, and back. */
struct page_mask uvm_memory_to_flat(const struct uvm_memory_block *b, const struct page_mask *own);
struct page_mask uvm_memory_from_flat(const struct uvm_memory_block *b, const struct page_mask *flat);

/* Whether a block's memory is pieces of shared chunks: it is cut short, and memory is limited and goes by chunks. */
static inline bool uvm_memory_shares(const struct uvm_memory *m, const struct uvm_memory_block *b)
{
    return m->chunks && !m->in_pieces && b->cut != UVM_NO_BLOCK;
}

/* Returns how many 64 KiB pieces of memory back a whole block. */
static inline uint32_t uvm_memory_block_pieces(const struct uvm_memory_block *b)
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
