/* uvm_policy: which pages of a VA block migrate besides the faulted ones, and what is learnt from each fault batch.
 *
 * The engine asks plan() once per service (one VA block in one batch) and tells learn() once per batch, after its last
 * service. Windows over batches belong to the policy. plan() is pure: same arguments, same plan; a policy reads no
 * clock, file or global. One state per run; a state is used by one thread. */
#ifndef MODELS_UVM_UVM_POLICY_H
#define MODELS_UVM_UVM_POLICY_H

#include <stddef.h>

#include "models/base/policy.h"
#include "models/uvm/block.h"

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

struct uvm_policy {
    struct policy_head head;
    /* Check the parameters together and prepare the state (zeroed, parameters stored). NULL: nothing to do.
     * Returns 0, or -1 with *err set. */
    int (*init)(void *state, struct err *err);
    /* Set *plan to the pages that migrate besides the faulted ones: no faulted, resident or thrashing page, none
     * outside [first, end). `faulted` holds at least one page, all in [first, end) and none resident. */
    void (*plan)(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                 struct page_mask *plan);
    /* One batch is over. NULL: nothing to learn. */
    void (*learn)(void *state, const struct uvm_batch *batch);
    /* The granularity in use, bytes. NULL: it has none. */
    int64_t (*granularity)(const void *state);
    /* What a run came to, for notes: rows over the state, read after the run. NULL: none. Ends with a zeroed row. */
    const struct param *findings;
};

/* The list, in models/policies.c: a new policy is its files, its name here and one line there. */
extern const struct uvm_policy uvm_tree, uvm_fixed, uvm_adaptive, uvm_adaptive_literal, uvm_none;
extern const struct uvm_policy *const uvm_policies[]; /* ends with NULL */
extern const struct policy_head
    *const uvm_policy_heads[]; /* their heads in the same order, then the baseline mapped of legacy mode, NULL */

/* The policy whose head this is, or NULL if it is no uvm policy. */
const struct uvm_policy *uvm_policy_of(const struct policy_head *head);

/* The policy called `name`, or NULL. */
const struct uvm_policy *uvm_policy_find(const char *name);

#endif
