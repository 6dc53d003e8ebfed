/* uvm_hints: what a program tells the driver of its memory, as settings: advise=[A:read-mostly,B:preferred-host],
 * prefetch=[A,B] and discard=[A,B].
 *
 * Advice: read-mostly, preferred-host, accessed-by (cudaMemAdvise of the GPU); an allocation may have several.
 * Prefetch: cudaMemPrefetchAsync of all of it before the first launch. Discard: cuMemDiscardBatchAsync of all of it
 * behind each kernel: what it holds is not wanted again, and nothing moves. A whole block then stands in a list of its
 * own (UVM_MEMORY_DISCARDED), whose chunks go after unused ones and before any policy is asked, without a copy. Touched
 * again it faults, has nothing to copy, and is used as before, in the chunk that it kept. The call costs nothing here
 * (not known); for the prefetcher discarded pages count as not there (inferred). "all" stands for every allocation. */
#ifndef REPLAY_UVM_UVM_HINTS_H
#define REPLAY_UVM_UVM_HINTS_H

#include "trace/event/actor.h"

struct uvm_hints {
    uint32_t *advice; /* by allocation, enum actor_advice; NULL: none */
    bool *prefetch;   /* by allocation; NULL: none */
    bool *discard;    /* likewise */
};

/* advise, prefetch, discard: the texts of the settings, or NULL. -1 with *err set: an unknown allocation or advice.
 * Released with uvm_hints_release() in any case. */
int uvm_hints_init(struct uvm_hints *h, const struct actor_alloc *allocs, size_t n, const char *advise,
                   const char *prefetch, const char *discard, struct err *err);
void uvm_hints_release(struct uvm_hints *h);

#endif
