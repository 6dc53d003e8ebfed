/* window: the locality ratio R, distinct VA blocks over fault batches, in tumbling windows.
 *
 * Add batches; when a window is full its R is returned and the next begins. The same window serves the adaptive
 * policies and the engine's r_median, r_p25 and r_p75.
 * Source: "Adaptive Prefetch-Granularity Management" (lee-2026), equations 1 and 2: R = num_va / num_batch. */
#ifndef MODELS_UVM_WINDOW_H
#define MODELS_UVM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "models/uvm/uvm_policy.h"

/* Room for 96 full batches of 256 blocks at three quarters load. Blocks beyond that count as distinct. */
enum { UVM_WINDOW_SLOTS = 32768, UVM_WINDOW_MAX_BATCHES = 96 };

struct uvm_window {
    uint32_t batches;                 /* in the current window */
    uint64_t distinct;                /* VA blocks with serviced faults in it, each counted once */
    uint64_t summed;                  /* the same, once per batch */
    uint64_t number;                  /* of the window, from 0 */
    uint32_t used;                    /* slots taken by this window */
    uint64_t slots[UVM_WINDOW_SLOTS]; /* (window number + 1) << 40 | block; others are free */
};

/* A zeroed window is ready. Count one batch; batches without serviced faults count as batches. */
void uvm_window_add(struct uvm_window *window, const struct uvm_batch *batch);

/* distinct / batches so far; 0 for an empty window. */
double uvm_window_r(const struct uvm_window *window);

/* summed / batches so far; 0 for an empty window. */
double uvm_window_summed_r(const struct uvm_window *window);

/* Forget everything counted and begin the next window. */
void uvm_window_next(struct uvm_window *window);

#endif
