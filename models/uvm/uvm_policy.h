/* uvm_policy: which pages of a VA block migrate besides the faulted ones.
 *
 * For each fault batch the engine calls prefetch_batch() before its services, plan() once per service (one VA block in
 * one batch) and on_batch_end() after its last service. Windows over batches belong to the policy. plan() is pure: same
 * arguments, same plan; a policy reads no clock, file or global. One state per run; a state is used by one thread. */
#pragma once

#include <stddef.h>

#include "models/base/policy.h"
#include "models/uvm/uvm_evict.h"

/* One VA block of a batch. */
struct uvm_batch_block {
    uint64_t number; /* names the block: equal for the same block in every batch; < 2^40 */
    uint32_t faults; /* distinct pages serviced as faulted, >= 1 */
    uint32_t raw;    /* fault-buffer entries for it, duplicates included; 0: the source does not know */
};

/* One finished batch. */
struct uvm_batch {
    const struct uvm_batch_block *blocks; /* in order of service, each block once */
    size_t block_count;                   /* 0: a batch whose faults were all satisfied already */
    uint64_t evictions;                   /* blocks evicted while it was serviced */
    uint64_t free_chunks;                 /* 2 MiB chunks of GPU memory still free */
    uint64_t total_chunks;                /* chunks that managed memory may use; 0: unlimited */
    bool routine_end; /* last batch of its fault-handling routine (false where routines are unknown) */
};

/* The faults of a batch before its services, for prefetch_batch(). */
struct uvm_batch_faults {
    const uint32_t *pages; /* faulted, ascending, repeats possible; page / 512 is the block's number in *memory */
    size_t count;
    const struct uvm_evict_view *memory; /* every block's residency and services; free memory */
};

enum { UVM_PREFETCH_REQUESTS_MAX = 4096 }; /* pages of one batch */

/* Pages to prefetch with a batch, numbered as in struct uvm_batch_faults. The engine skips resident, faulted and
 * unallocated ones. */
struct uvm_prefetch_requests {
    uint32_t *pages; /* room for UVM_PREFETCH_REQUESTS_MAX */
    size_t count;
    uint64_t dropped; /* requests of the run so far beyond the maximum of their batch */
};

/* Requests one more page; counts and drops it beyond UVM_PREFETCH_REQUESTS_MAX. */
static inline void uvm_prefetch_request_add(struct uvm_prefetch_requests *requests, uint32_t page)
{
    if (requests->count < UVM_PREFETCH_REQUESTS_MAX)
        requests->pages[requests->count++] = page;
    else
        requests->dropped++;
}

struct uvm_policy {
    struct policy_head head;
    /* Check the parameters together and prepare the state (zeroed, parameters stored). NULL: nothing to do.
     * Returns 0, or -1 with *err set. */
    int (*init)(void *state, struct err *err);
    /* Set *plan to the pages that migrate besides the faulted ones: no faulted, resident or thrashing page, none
     * outside [first, end). `faulted` holds at least one page, all in [first, end) and none resident. */
    void (*plan)(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                 struct page_mask *plan);
    /* Called when a batch was fetched and sorted: requests pages of any block besides those of plan(). Pages of the
     * batch's blocks join their services. Others are served behind them, and evict no block of the batch. NULL: none.
     * Returns 0, or -1 with *err set, which ends the run. */
    int (*prefetch_batch)(void *state, const struct uvm_batch_faults *batch, struct uvm_prefetch_requests *requests,
                          struct err *err);
    /* Frees what the state owns. NULL: nothing. */
    void (*release)(void *state);
    /* Called after the last service of a batch. NULL: nothing to do. */
    void (*on_batch_end)(void *state, const struct uvm_batch *batch);
    /* Returns the granularity in use, bytes. NULL: it has none. */
    int64_t (*granularity)(const void *state);
    /* Rows over the state that are printed as a note after the run. NULL: none. Ends with a zeroed row. */
    const struct param *findings;
    /* With its defaults, what the stock driver does: recordings are taken to be made under it, and `uvm` as a baseline
     * of other engines is this. Exactly one of the list. */
    bool stock;
};

/* The plans of two policies as functions, for those that choose a granularity or want the driver's own decision.
 * fixed: the regions of `granularity_bytes` (a power of two, 4 KiB to 2 MiB) that hold a faulted page; 4 KiB plans
 * nothing. tree: threshold: percent, 0 to 100; a region qualifies strictly above it. */
void uvm_fixed_plan(const struct uvm_block *block, const struct page_mask *faulted, int64_t granularity_bytes,
                    struct page_mask *plan) PLUGIN_API(uvm_fixed_plan);
void uvm_tree_plan(const struct uvm_block *block, const struct page_mask *faulted, int threshold,
                   struct page_mask *plan) PLUGIN_API(uvm_tree_plan);

/* Source: driver 545.23.06, uvm_perf_prefetch.c: UVM_PREFETCH_THRESHOLD_DEFAULT, uvm_perf_prefetch_min_faults. */
enum { UVM_TREE_THRESHOLD = 51, UVM_TREE_MIN_FAULTS = 1 };

/* Calls plan() and checks it: a page that cannot move is an error, which names the policy. */
int uvm_policy_plan(const struct uvm_policy *policy, const void *state, const struct uvm_block *block,
                    const struct page_mask *faulted, struct page_mask *plan, struct err *err);

/* Their heads (models/policies.h), then the baseline `pinned` of legacy mode, NULL. */
extern const struct policy_head *const uvm_policies[];

/* Returns the policy of a head; NULL if it is a baseline or NULL. */
const struct uvm_policy *uvm_policy_of(const struct policy_head *head);

/* Returns the stock driver's policy. */
const struct uvm_policy *uvm_policy_stock(void);

/* Runs two prefetchers in lockstep, as one policy, until their plans differ.
 *
 * The first decides; the second gets the same calls. While every plan() is the same page for page, the run is also the
 * second one's, to the last metric but the granularity. After the first difference the second gets no more calls.
 * Example: adaptive stays at 2 MiB while memory is abundant, so its run is that of fixed 2 MiB. The state is a struct
 * uvm_lockstep, filled in as parameters are. */
struct uvm_lockstep {
    const struct uvm_policy *policy[2]; /* without prefetch_batch() */
    const void *params[2];              /* head.state_size bytes with the parameters stored; NULL: the defaults */
    bool *diverged;                     /* set at the first difference */
    void *state[2];                     /* the policy's own; NULL at first */
};

extern const struct uvm_policy uvm_lockstep;
