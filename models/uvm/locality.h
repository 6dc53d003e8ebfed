/* locality: the ratio R, distinct VA blocks over fault batches, in tumbling windows.
 *
 * Add batches; when the window is as long as wanted, read R and begin the next. It serves the adaptive policies, the
 * replay of recordings and figure box.
 * Source: "Adaptive Prefetch-Granularity Management" (lee-2026), equations 1 and 2: R = num_va / num_batch. */
#pragma once

#include <stdint.h>

#include "models/uvm/uvm_policy.h"

/* Room for 96 full batches of 256 blocks at three quarters load. Blocks beyond that count as distinct. */
enum { UVM_LOCALITY_SLOTS = 32768, UVM_LOCALITY_MAX_BATCHES = 96 };

struct uvm_locality {
    uint32_t batches;                   /* in the current window */
    uint64_t distinct;                  /* VA blocks with serviced faults in it, each counted once */
    uint64_t summed;                    /* the same, once per batch */
    uint64_t number;                    /* of the window, from 0 */
    uint32_t used;                      /* slots taken by this window */
    uint64_t slots[UVM_LOCALITY_SLOTS]; /* (window number + 1) << 40 | block; others are free */
};

/* A zeroed window is ready. Count one batch; batches without serviced faults count as batches. */
void uvm_locality_add(struct uvm_locality *window, const struct uvm_batch *batch) PLUGIN_API(uvm_locality_add);

/* distinct / batches so far; 0 for an empty window. */
double uvm_locality_r(const struct uvm_locality *window) PLUGIN_API(uvm_locality_r);

/* summed / batches so far; 0 for an empty window. */
double uvm_locality_summed_r(const struct uvm_locality *window) PLUGIN_API(uvm_locality_summed_r);

/* Forget everything counted and begin the next window. */
void uvm_locality_next(struct uvm_locality *window) PLUGIN_API(uvm_locality_next);
