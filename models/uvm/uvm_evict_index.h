/* uvm_evict_index: the blocks that hold memory, by the eviction policy's key and in the order of service.
 *
 * A tree over places: a block that becomes the newest gets the next place. When places run out they are renumbered. A
 * node knows how many blocks are below it, and their least key. The engine makes it before the first pick. */
#pragma once

#include "models/uvm/uvm_evict.h"

struct uvm_evict_node {
    uint32_t count, most, ties; /* blocks below; UINT32_MAX less their least key, and how many have that */
};

struct uvm_evict_index {
    struct uvm_evict_node *nodes; /* [1] is the root, [size + i] place i */
    uint32_t *block;              /* at a place */
    uint32_t *place;              /* of a block, counted from 1; 0: none */
    uint32_t size, next;          /* places, a power of 2; the first that is free */
    uvm_evict_key *key;
    const void *state; /* of the policy */
};

/* Makes it of the order that there is, for the view. */
int uvm_evict_index_init(struct uvm_evict_index *index, struct uvm_evict_view *view, uvm_evict_key *key,
                         const void *state, struct err *err);
void uvm_evict_index_release(struct uvm_evict_index *index);

/* Hides a block from pick() until it is noted. */
void uvm_evict_index_hide(const struct uvm_evict_view *view, uint32_t block);

/* Takes in that facts of a block or its place in the order have changed; gone: it is in the order no more. The
 * requester, and a policy without a key, are left alone. */
void uvm_evict_index_note(const struct uvm_evict_view *view, uint32_t block, bool gone);
