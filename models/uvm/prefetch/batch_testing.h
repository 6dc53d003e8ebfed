/* batch_testing: a batch of faults for a policy that prefetches by batches. */
#pragma once

#include "models/uvm/uvm_policy.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

/* Returns the state, with a parameter stored; batch_end() frees it. */
static inline void *batch_start(const struct uvm_policy *p, const char *key, const char *value)
{
    void *state = calloc(1, p->head.state_size);
    param_defaults(p->head.params, state);
    ck_assert_int_eq(param_set(p->head.params, state, key, value, NULL), 0);
    return state;
}

static inline void batch_end(const struct uvm_policy *p, void *state)
{
    p->release(state);
    free(state);
}

/* Returns what the policy requests with a batch in a space of 8 blocks, in order. */
static inline struct uvm_prefetch_requests requests_of(const struct uvm_policy *p, void *state, const uint32_t *pages,
                                                       size_t n)
{
    static uint32_t room[UVM_PREFETCH_REQUESTS_MAX];
    static const struct uvm_evict_view memory = {.block_count = 8};
    struct uvm_prefetch_requests requests = {.pages = room};
    const struct uvm_batch_faults batch = {.pages = pages, .count = n, .memory = &memory};
    WORKS(p->prefetch_batch(state, &batch, &requests, &err));
    return requests;
}
