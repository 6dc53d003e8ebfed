/* Blocks that hold memory, as an eviction policy sees them, for the tests of this folder. */
#pragma once

#include "models/uvm/uvm_evict_index.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

enum { EVICT_BLOCKS = 8 };

struct evict_scene {
    struct uvm_block block[EVICT_BLOCKS];
    struct uvm_evict_block facts[EVICT_BLOCKS];
    uint32_t age[EVICT_BLOCKS * UVM_BLOCK_PIECES];
    struct uvm_evict_view view;
    const struct uvm_evict_policy *policy;
    uint64_t state[64];
};

/* The policy called `name` with its defaults, batch 10 in hand, no block with memory; block 7 needs some. */
static inline void evict_scene(struct evict_scene *s, const char *name)
{
    *s = (struct evict_scene){.policy = (const struct uvm_evict_policy *)policy_find(uvm_evict_policies, name)};
    s->view = (struct uvm_evict_view){.blocks = s->facts,
                                      .block_count = EVICT_BLOCKS,
                                      .oldest = UVM_NO_BLOCK,
                                      .newest = UVM_NO_BLOCK,
                                      .requester = EVICT_BLOCKS - 1,
                                      .batch = 10,
                                      .piece_age = s->age};
    ck_assert(s->policy->head.state_size <= sizeof s->state);
    param_defaults(s->policy->head.params, s->state);
    ck_assert(!s->policy->init || s->policy->init(s->state, NULL) == 0);
}

/* A block gets its memory, and becomes the newest. */
static inline struct uvm_evict_block *evict_add(struct evict_scene *s, uint32_t b)
{
    struct uvm_evict_block *f = &s->facts[b];
    uvm_block_init(&s->block[b], (uint64_t)b * UVM_BLOCK_BYTES, (uint64_t)(b + 1) * UVM_BLOCK_BYTES);
    *f = (struct uvm_evict_block){.block = &s->block[b],
                                  .older = s->view.newest,
                                  .newer = UVM_NO_BLOCK,
                                  .pieces = UINT32_MAX,
                                  .allocation_order = b + 1,
                                  .services = 1};
    if (s->view.newest == UVM_NO_BLOCK)
        s->view.oldest = b;
    else
        s->facts[s->view.newest].newer = b;
    s->view.newest = b;
    return f;
}

/* It loses its memory. */
static inline void evict_remove(struct evict_scene *s, uint32_t b)
{
    struct uvm_evict_block *f = &s->facts[b];
    *(f->older == UVM_NO_BLOCK ? &s->view.oldest : &s->facts[f->older].newer) = f->newer;
    *(f->newer == UVM_NO_BLOCK ? &s->view.newest : &s->facts[f->newer].older) = f->older;
}

/* The victim, by an index of the blocks as they are now. */
static inline struct uvm_victim evict_victim(struct evict_scene *s)
{
    struct uvm_evict_index index = {0};
    struct err err = {""};
    ck_assert(!s->policy->key || uvm_evict_index_init(&index, &s->view, s->policy->key, s->state, &err) == 0);
    uvm_evict_index_hide(&s->view, s->view.requester);
    struct uvm_victim victim = s->policy->pick(s->state, &s->view);
    uvm_evict_index_release(&index);
    s->view.index = NULL;
    return victim;
}

static inline uint32_t evict_pick(struct evict_scene *s)
{
    return evict_victim(s).block;
}
