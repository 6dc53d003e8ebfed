/* host_fit: how long a recording's host takes to serve faults, beside what a platform states: `host` of [uvm].
 *
 * From a batch's first fault (or the replay before it, if later) to its first copy, and from its last copy to its
 * replay, the copy engine waits for the CPU. That time is held against what models/uvm/uvm_platform.h has for it: the
 * rest of poll_ns, batch_before and batch_after, the entries, and the first service with its pages, runs and block, all
 * mapped by the CPU. How many entries were fetched is not recorded: taken is the mean of those of one page, which each
 * fault record tells, for every faulted page, batch_faults at most. Batches whose first fault comes later than poll_ns
 * are left out: an interrupt has to wake the driver, which takes 15 to 25 us (H100, H200) and is no service.
 * Worked example, no times but batch_before_ns = 10000 and service_ns = 5000: a batch that faults at 0, as the replay
 * before it comes, copies from 5000 to 9000 and ends at 11500 took 7500 of 15000: 0.5.
 *
 * `host` is the median over batches: what is not recorded (waits for the GPU, services without a copy) lengthens some.
 * Two of its errors to either side hold half the batches, and entries that are a fifth off, twice. Simulated recordings
 * of stride and nw give their number back within 6 % (host_fit_test.c); such of bicg and conv2d, with up to twice the
 * entries and services without a copy, up to 40 % more. */
#pragma once

#include "models/uvm/uvm_platform.h"
#include "replay/calibrate/fit.h"
#include "replay/uvm/uvm_recording.h"

enum { HOST_FIT_BATCHES = 8 }; /* at least */

struct host_row {
    double ratio, measured_ns, stated_ns;
};

struct host_fit {
    struct host_row *rows; /* a batch each; freed by the owner */
    size_t count, cap;
    double entries_ns; /* of stated_ns, all rows together */
    bool unrecorded;   /* memory may have come without a record */
    /* Results of host_fit_solve(): */
    double host, error;
    double quartile[2];
    double entries_ratio; /* of what is stated */
    struct fit fit;       /* rows, rms of relative residuals and r2 only */
};

/* Add the batches of a recording. One whose services are not those of plain memory (advice, evictions) adds none. */
int host_fit_add(struct host_fit *f, const struct uvm_recording *r, const struct uvm_platform *p, struct err *err);

/* -1: fewer than HOST_FIT_BATCHES. */
int host_fit_solve(struct host_fit *f);
