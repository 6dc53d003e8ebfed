/* A batch of faults for a policy that looks ahead, for the tests of this folder. */
#ifndef MODELS_UVM_PREFETCH_AHEAD_TESTING_H
#define MODELS_UVM_PREFETCH_AHEAD_TESTING_H

#include "models/uvm/uvm_policy.h"
#include "trace/base/testing.h"

/* Tell the policy of a batch in a space of 8 blocks; what it asks for, in order. */
static inline struct uvm_asks ahead_of(const struct uvm_policy *p, void *state, const uint32_t *pages, size_t n)
{
    static uint32_t room[UVM_ASKS];
    static const struct uvm_evict_view memory = {.block_count = 8};
    struct uvm_asks asks = {.pages = room};
    p->ahead(state, &(struct uvm_ahead){.pages = pages, .count = n, .memory = &memory}, &asks);
    return asks;
}

#endif
