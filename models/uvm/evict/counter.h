/* counter: how many remote accesses bring a block back, by the paper's formula; see counter.c. */
#ifndef MODELS_UVM_EVICT_COUNTER_H
#define MODELS_UVM_EVICT_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* occupancy: share of the memory in use, 0 to 1; round_trips: of the block. */
double uvm_evict_counter_threshold(int64_t t, int64_t p, double occupancy, bool oversubscribed, uint32_t round_trips);

#endif
