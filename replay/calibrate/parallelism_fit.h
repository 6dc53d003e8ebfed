/* parallelism_fit: at how many accesses in flight a multiprocessor is served as fast as it ever is.
 *
 * An access takes a latency L; with p in flight one is done every L / p, until something else is the limit and it takes
 * T however many there are (Volkov 2010). So t(p) = max(L / p, T), and the peak is reached at L / T. Rows in order of p
 * are cut in two, every way with at least two on each side; least squares of relative residuals. Worked example: L =
 * 400 ns, T = 5 ns; rows at 1, 2, 4, ... 256: those up to 64 lie on 400 / p, the others at 5; 80. */
#ifndef REPLAY_CALIBRATE_PARALLELISM_FIT_H
#define REPLAY_CALIBRATE_PARALLELISM_FIT_H

#include <stddef.h>

#include "replay/calibrate/fit.h"
#include "trace/base/err.h"

struct parallelism_row {
    double in_flight, time;
};

struct parallelism {
    struct parallelism_row *rows; /* freed by the owner */
    size_t count, cap;
    /* Results of parallelism_solve(): */
    double peak, error; /* L / T and its standard error */
    size_t flat;        /* rows at the peak */
    struct fit fit;     /* rows, rms of relative residuals and r2 only */
};

int parallelism_add(struct parallelism *p, double in_flight, double time, struct err *err);

/* -1: too few rows, or throughput never levels off. */
int parallelism_solve(struct parallelism *p);

#endif
