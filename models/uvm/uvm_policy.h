/* uvm_policy: which pages of a VA block migrate besides the faulted ones, and what is learnt from each fault batch.
 *
 * The engine tells ahead() of a batch, asks plan() once per service (one VA block in one batch) and tells learn() once
 * per batch, after its last service. Windows over batches belong to the policy. plan() is pure: same arguments, same
 * plan; a policy reads no clock, file or global. One state per run; a state is used by one thread. */
#ifndef MODELS_UVM_UVM_POLICY_H
#define MODELS_UVM_UVM_POLICY_H

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

/* A batch before its services, for ahead(). */
struct uvm_ahead {
    const uint32_t *pages; /* faulted, ascending, the same page more than once: page / 512 is the block, as below */
    size_t count;
    const struct uvm_evict_view *memory; /* every block: what is resident, when it was serviced last, memory left */
};

enum { UVM_ASKS = 4096 }; /* pages asked for with one batch, at most */

/* Pages asked for, numbered as in struct uvm_ahead. The engine leaves out resident, faulted and unallocated ones. */
struct uvm_asks {
    uint32_t *pages; /* UVM_ASKS of them */
    size_t count;
    uint64_t unheard; /* of the run so far: asked for beyond UVM_ASKS of a batch */
};

/* Ask for one more; more than UVM_ASKS are counted, and left out. */
static inline void uvm_asks_add(struct uvm_asks *asks, uint32_t page)
{
    if (asks->count < UVM_ASKS)
        asks->pages[asks->count++] = page;
    else
        asks->unheard++;
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
    /* A batch was fetched and sorted: what should come with it besides what plan() says, in any block. Pages of its own
     * blocks join their services; others are services of their own behind them, for which nothing of the batch in hand
     * is evicted. The policy sees its whole history, if it keeps it. NULL: nothing.
     * Returns 0, or -1 with *err set, which ends the run. */
    int (*ahead)(void *state, const struct uvm_ahead *view, struct uvm_asks *asks, struct err *err);
    /* Give back what the state holds besides itself. NULL: nothing. */
    void (*release)(void *state);
    /* One batch is over. NULL: nothing to learn. */
    void (*learn)(void *state, const struct uvm_batch *batch);
    /* The granularity in use, bytes. NULL: it has none. */
    int64_t (*granularity)(const void *state);
    /* What a run came to, for notes: rows over the state, read after the run. NULL: none. Ends with a zeroed row. */
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

/* plan(), held against its rule: a page that cannot move is an error, which names the policy. */
int uvm_policy_plan(const struct uvm_policy *policy, const void *state, const struct uvm_block *block,
                    const struct page_mask *faulted, struct page_mask *plan, struct err *err);

/* Their heads (models/policies.h), then the baseline `mapped` of legacy mode, NULL. */
extern const struct policy_head *const uvm_policies[];

/* The policy whose head this is, or NULL if it is a baseline or NULL. */
const struct uvm_policy *uvm_policy_of(const struct policy_head *head);

/* The one that is the stock driver's. */
const struct uvm_policy *uvm_policy_stock(void);

/* Two prefetchers in one run, as one policy, for as long as they decide alike.
 *
 * The first one decides; the second is asked and told the same. A run of which every plan() was the same page for page
 * is the run that the second one would have had, to the last metric (but for the granularity): nothing else of a
 * prefetcher reaches the engine. From the first difference on the second is asked no more.
 * Example: adaptive starts at 2 MiB and stays there while memory is abundant: then its run is that of fixed 2 MiB.
 * Its state is a struct uvm_agree, which is filled in as parameters are. It is in no list of policies. */
struct uvm_agree {
    const struct uvm_policy *policy[2]; /* without ahead() */
    const void *params[2];              /* head.state_size bytes with the parameters stored; NULL: the defaults */
    bool *apart;                        /* set once they differ */
    void *state[2];                     /* the policy's own; NULL at first */
};

extern const struct uvm_policy uvm_agree;

#endif
