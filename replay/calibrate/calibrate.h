/* calibrate: fit the numbers of a platform to measurements, so that a user's own machine becomes a platform. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "replay/calibrate/fit.h"
#include "trace/base/err.h"

/* One number that was fitted. */
struct calibrated {
    char section[16], key[40];
    double value;
    double error; /* standard error; infinite: not identified */
    size_t rows;
    double rms; /* of the residuals, in the unit of `rms_unit` */
    const char *rms_unit;
    double r2;
    char from[160]; /* what it was fitted to, in words */
};

enum { CALIBRATED_MAX = 32 };

/* One measurement beside what the fitted platform says of it. */
struct calibrated_row {
    char name[64];
    double measured_ns, fitted_ns;
    const char *bound; /* what held it up most */
    bool predicted;    /* not fitted to */
};

struct calibration {
    struct calibrated numbers[CALIBRATED_MAX];
    size_t count;
    char notes[12][400]; /* what could not be told */
    size_t note_count;
    json_t *limits; /* of the traces (trace/derived/limits.h): there after a failure, too; NULL: no trace was read */
    struct calibrated_row *rows; /* zerocopy only; freed by calibration_release() */
    size_t row_count;
};

/* What to fit to. */
struct measurements {
    const char *const *paths;
    size_t count;
    const char *base;    /* platform that all other numbers come from */
    const char *predict; /* zerocopy only: rows that are predicted, not fitted to; NULL: none */
};

/* Always, after whichever of the functions below. */
void calibration_release(struct calibration *c);

/* placement: CSV files with the header what,bytes,ms. `what` is copy_hd, copy_dh, mapping, first_touch, flush_cpu,
 * flush_gpu, l2_latency, memory_latency (ms of one access) or parallelism (accesses in flight on a multiprocessor
 * instead of bytes; ms for one). */
int calibrate_placement(struct calibration *c, const struct measurements *from, struct err *err);

/* Number of accesses in flight at which a multiprocessor reaches its best rate.
 *
 * An access takes a latency L; with p in flight one is done every L / p, down to a limit T (Volkov 2010). So t(p) =
 * max(L / p, T), and the peak is reached at L / T. Rows in order of p are cut in two at every place with at least two
 * on each side; least squares of relative residuals. Worked example: L = 400 ns, T = 5 ns; rows at 1, 2, 4, ... 256:
 * those up to 64 lie on 400 / p, the others at 5; 80. */
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

/* uvm: recordings (traces). From migration records: bandwidth and cost per record in each direction; times are traced
 * times. From batches, where the base has a [uvm]: how long the CPU takes beside the base's times (host_fit.h). */
int calibrate_uvm(struct calibration *c, const struct measurements *from, struct err *err);

/* zerocopy: rows of requests or block copies with their times (link_fit.h). The wire's efficiency always; outstanding
 * requests, host memory, latency of a load and cost of a launch where the rows show them, which the Bayesian
 * information criterion decides; copies: set-up and completion size. Relative residuals. */
int calibrate_zerocopy(struct calibration *c, const struct measurements *from, struct err *err);

void calibration_add(struct calibration *c, const char *section, const char *key, double value, double error,
                     const struct fit *fit, const char *unit, const char *from);
void calibration_note(struct calibration *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The platform file: base and the fitted numbers, each with what it was fitted to. */
int calibration_write(const struct calibration *c, const char *name, const char *base, FILE *out, struct err *err);
