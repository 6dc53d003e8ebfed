/* uvm_room: memory for what comes: evictions on the way of a batch, before and behind it. */
#ifndef REPLAY_UVM_UVM_ROOM_H
#define REPLAY_UVM_UVM_ROOM_H

#include "replay/uvm/uvm_driver.h"

/* The CPU's and the copy engines' clocks within one batch. */
struct uvm_clocks {
    double cpu, copies, out;
};

/* What making room for a service came to. */
struct uvm_room {
    double back_ns;  /* of the engine for all copies */
    double ready_ns; /* when the memory may be written; 0: at once */
};

/* Memory for the pages `come` of a block, evicting as needed. */
int uvm_driver_make_room(struct uvm_driver *d, uint32_t number, const struct page_mask *come, struct uvm_clocks *at,
                         struct uvm_room *room, struct err *err);

/* Tell the eviction policy what the batch of n sorted pages needs; evict what it wants evicted at once. */
int uvm_driver_evict_ahead(struct uvm_driver *d, const uint32_t *sorted, uint32_t n, struct uvm_clocks *at,
                           struct err *err);

/* What the policy asked for in a block. */
struct page_mask uvm_driver_asked(const struct uvm_driver *d, uint32_t number);

/* Memory for pages that nobody waits for, if it can be had without a block of the batch in hand: 1, else 0; -1. */
int uvm_driver_room_ahead(struct uvm_driver *d, uint32_t number, const struct page_mask *come, struct uvm_clocks *at,
                          struct err *err);

/* After a batch that ended at `end_ns`: free chunks behind its back. */
int uvm_driver_evict_behind(struct uvm_driver *d, double end_ns, struct err *err);

static inline bool uvm_driver_read_mostly(const struct uvm_driver *d, uint32_t number)
{
    return d->memory->allocs[d->memory->blocks[number].alloc].advice & ACTOR_READ_MOSTLY;
}

#endif
