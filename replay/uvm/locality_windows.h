/* locality_windows: the locality measure R over windows of 20 batches: distinct VA blocks / batches.
 *
 * Windows tumble over the whole run whatever the routines; a second set is cut at changes of kernel, so that R stands
 * for one kernel. A window that its end cuts short counts only where there is no whole one.
 * Source: lee-2026, section III, equation 1; windows instead of routines as docs/uvm-engine.md says. */
#ifndef REPLAY_UVM_LOCALITY_WINDOWS_H
#define REPLAY_UVM_LOCALITY_WINDOWS_H

#include "models/uvm/locality.h"
#include "replay/uvm/uvm_simulate.h"

enum { UVM_WINDOW_BATCHES = 20 };

struct uvm_window_values {
    double *values;
    size_t count, cap;
};

struct locality_windows {
    struct uvm_locality *all, *one; /* over the run; within one kernel */
    struct uvm_window_values values;
    const char *kernels[UVM_KERNELS]; /* names met, in order */
    struct uvm_window_values by_kernel[UVM_KERNELS];
    size_t kernel_count, current;
};

int locality_windows_init(struct locality_windows *w, struct err *err);
void locality_windows_release(struct locality_windows *w);

/* One batch of `kernel`; batches without a service count as batches. Kernels after the first UVM_KERNELS names get no
 * row of their own. */
int locality_windows_add(struct locality_windows *w, const char *kernel, const struct uvm_batch *batch,
                         struct err *err);

/* Close the last windows and fill r and kernels of *metrics. */
int locality_windows_close(struct locality_windows *w, struct uvm_metrics *metrics, struct err *err);

/* Quartiles by linear interpolation; sorts the values. NAN where there are none. */
struct uvm_quartiles locality_windows_quartiles(double *values, size_t n);

#endif
