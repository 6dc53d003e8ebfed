/* A batch of faults for a policy that looks ahead, for the tests of this folder. */
#ifndef MODELS_UVM_PREFETCH_AHEAD_TESTING_H
#define MODELS_UVM_PREFETCH_AHEAD_TESTING_H

#include "models/uvm/uvm_policy.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

/* The state, with a parameter stored; given back by ahead_end(). */
static inline void *ahead_start(const struct uvm_policy *p, const char *key, const char *value)
{
    void *state = calloc(1, p->head.state_size);
    param_defaults(p->head.params, state);
    ck_assert_int_eq(param_set(p->head.params, state, key, value, NULL), 0);
    return state;
}

static inline void ahead_end(const struct uvm_policy *p, void *state)
{
    p->release(state);
    free(state);
}

/* Tell the policy of a batch in a space of 8 blocks; what it asks for, in order. */
static inline struct uvm_asks ahead_of(const struct uvm_policy *p, void *state, const uint32_t *pages, size_t n)
{
    struct err err = {""};
    static uint32_t room[UVM_ASKS];
    static const struct uvm_evict_view memory = {.block_count = 8};
    struct uvm_asks asks = {.pages = room};
    const struct uvm_ahead view = {.pages = pages, .count = n, .memory = &memory};
    ck_assert_msg(p->ahead(state, &view, &asks, &err) == 0, "%s", err.msg);
    return asks;
}

#endif
