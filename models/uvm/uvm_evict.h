/* uvm_evict: which GPU memory is evicted when a VA block needs some and none is free.
 *
 * The engine keeps the facts below and calls pick(); it frees memory, copies back and accounts. A policy sees what a
 * driver could know: what was serviced, faulted and migrated, when, and how often; the current batch; free memory. It
 * does not see which resident pages were touched or are dirty, who waits, or what comes next.
 *
 * Rules for every policy: never the block that needs the memory; the victim holds memory; of equal blocks the lower
 * number goes first, or the driver's order decides. The driver's unused chunks go before anything is picked. One state
 * per run; a state is used by one thread; no clock, file or global. Memory is handed out in chunks of 2 MiB, as the
 * driver does (a block cut by its allocation's edge: 64 KiB pieces of one), and a victim gives up all its own. With
 * capacity=piece it is handed out in pieces of 64 KiB: a what-if that no driver has.
 * Source: the driver's choice: 545.23.06, uvm_pmm_gpu.c, pick_root_chunk_to_evict(). */
#pragma once

#include "models/base/policy.h"
#include "models/uvm/block.h"
#include "trace/base/param.h"

enum { UVM_NO_BLOCK = 0xFFFFFFFF, UVM_BLOCK_PIECES = UVM_BLOCK_BYTES / UVM_BIG_BYTES };

/* What is known of one VA block. Batches are counted from 1; 0: never. Times are ns of the run. */
struct uvm_evict_block {
    const struct uvm_block *block;    /* its resident pages, its edges */
    uint32_t older, newer;            /* neighbours among the blocks that hold memory: the order of service */
    uint32_t resident;                /* pages */
    uint32_t pieces;                  /* bit i: piece i holds memory; only with capacity=piece, else all or none */
    uint32_t faulted, prefetched;     /* pages migrated as such, ever */
    uint32_t services, evictions;     /* counted, ever */
    uint32_t notifications;           /* of access counters, ever */
    uint32_t allocation_order;        /* its memory was the n-th to be allocated */
    uint32_t first_batch, last_batch; /* of its services */
    uint32_t last_fault_batch;        /* the last batch with a fault on it */
    uint32_t advice;                  /* enum actor_advice */
    int64_t first_ns, last_ns;        /* of its services */
};

struct uvm_evict_view {
    const struct uvm_evict_block *blocks;
    uint32_t block_count;
    uint32_t oldest, newest;       /* of the blocks that hold memory, in order of service; UVM_NO_BLOCK: none */
    uint32_t requester;            /* the block that needs memory, never the victim; UVM_NO_BLOCK: none in particular */
    uint32_t batch;                /* the current batch */
    int64_t time_ns;               /* when it was fetched */
    uint64_t free_pieces;          /* of 64 KiB */
    uint64_t total_pieces;         /* that managed memory may use */
    struct uvm_evict_index *index; /* by the policy's key; NULL: it has none */
    const uint32_t *piece_age; /* [UVM_BLOCK_PIECES * block + piece]: which service came to it last, counted from 1; 0:
                                  none. NULL unless capacity=piece */
};

/* Returns the key of a block. */
typedef uint32_t uvm_evict_key(const void *state, const struct uvm_evict_view *view, uint32_t block);

/* What happened to a block, for on_block_event(). */
enum uvm_evict_event { UVM_EVICT_ALLOCATED, UVM_EVICT_SERVICED, UVM_EVICT_EMPTIED, UVM_EVICT_FREED };

struct uvm_victim {
    uint32_t block;  /* UVM_NO_BLOCK: no victim; only where the engine need not have one */
    uint32_t pieces; /* bit i: piece i is evicted; with capacity=chunk all of them */
};

struct uvm_evict_policy {
    struct policy_head head;
    /* Check the parameters together and prepare the state (zeroed, parameters stored). NULL: nothing to do. */
    int (*init)(void *state, struct err *err);
    /* Returns the victim. Some block other than `requester` holds memory. */
    struct uvm_victim (*pick)(void *state, const struct uvm_evict_view *view);
    /* The key of a block for uvm_evict_pick_least() and uvm_evict_index_other(), of its facts and the state. NULL:
     * none. */
    uvm_evict_key *key;
    /* Called when something happened to a block, after the facts changed. NULL: nothing to do. */
    void (*on_block_event)(void *state, const struct uvm_evict_view *view, uint32_t block, enum uvm_evict_event event);
    /* Called when a batch was fetched and sorted; its services need `needed` chunks at most. Returns how many victims
     * to pick before the first service; their copies overlap the services' copies. NULL: none. */
    uint64_t (*before_batch)(void *state, const struct uvm_evict_view *view, uint64_t needed);
    /* Returns how many chunks to keep free: after every batch the engine picks victims, in the background and none of
     * that batch, until so many are free. NULL: none. */
    uint64_t (*keep_free)(const void *state);
    /* Returns how many remote accesses migrate a block back. Not NULL: what is evicted stays mapped by the GPU, for
     * reading; it migrates back by this, or when it is written. */
    int64_t (*access_counter_threshold)(const void *state, const struct uvm_evict_view *view, uint32_t block);
    /* Called for access counter notifications of a block, after the facts changed. NULL: nothing to do.
     * Returns 0, or -1 with *err set, which ends the run. */
    int (*on_access_counter)(void *state, const struct uvm_evict_view *view, uint32_t block, uint32_t regions,
                             struct err *err);
    /* Frees what the state owns. NULL: nothing. */
    void (*release)(void *state);
    /* The driver's own. Exactly one of the list; it is used where none is named. */
    bool stock;
};

/* Their heads (models/policies.h), NULL. */
extern const struct policy_head *const uvm_evict_policies[];

/* Returns the policy of a head; of NULL the driver's. */
const struct uvm_evict_policy *uvm_evict_of(const struct policy_head *head);

/* Returns whether memory is allocated in pieces: the parameter `capacity` of a prepared state. */
bool uvm_evict_in_pieces(const struct uvm_evict_policy *policy, const void *state);

static inline bool uvm_evict_in_current_batch(const struct uvm_evict_view *view, uint32_t block)
{
    return view->blocks[block].last_fault_batch == view->batch && view->batch;
}

/* for (each block that holds memory and may go, least recently serviced first) */
#define UVM_EVICT_EACH(b, view)                                                                                        \
    for (uint32_t b = (view)->oldest; b != UVM_NO_BLOCK; b = (view)->blocks[b].newer)                                  \
        if (b != (view)->requester)

/* Picks the block with the least key of the policy, of equals the least recently serviced. */
struct uvm_victim uvm_evict_pick_least(void *state, const struct uvm_evict_view *view) PLUGIN_API(uvm_evict_pick_least);

/* Returns one of the n blocks with another key than `key`, which is no more than any: number draw % n in the order of
 * service. UVM_NO_BLOCK if there is none. */
uint32_t uvm_evict_index_other(const struct uvm_evict_view *view, uint32_t key, uint64_t draw)
    PLUGIN_API(uvm_evict_index_other);

/* Returns the least recently serviced block; UVM_NO_BLOCK if there is none. */
uint32_t uvm_evict_oldest(const struct uvm_evict_view *view) PLUGIN_API(uvm_evict_oldest);

/* Returns the same, or with `newest` the most recently serviced block, but none of the current batch. If there is no
 * other: the least recently serviced of all if a block waits for the memory, else UVM_NO_BLOCK. */
uint32_t uvm_evict_outside_batch(const struct uvm_evict_view *view, bool newest) PLUGIN_API(uvm_evict_outside_batch);

/* Evicts all memory of a block. */
static inline struct uvm_victim uvm_evict_whole(uint32_t block)
{
    return (struct uvm_victim){block, UINT32_MAX};
}

/* --- the parameter that eviction policies share --- */

/* A state of the policies without further parameters, and its table. */
struct uvm_evict_plain {
    int64_t capacity; /* enum uvm_evict_capacity */
};
enum uvm_evict_capacity { UVM_EVICT_CHUNK, UVM_EVICT_PIECE };
extern const struct param uvm_evict_plain_params[] PLUGIN_API(uvm_evict_plain_params);

/* The row `capacity` of struct S, which has a field of that name. */
#define UVM_EVICT_CAPACITY_ROW(S, value)                                                                               \
    PARAM_CHOICE_ROW(S, capacity, "chunk|piece", value,                                                                \
                     "what memory is handed out in: 2 MiB chunks, or 64 KiB pieces, which no driver does")
