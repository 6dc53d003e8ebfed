/* calibrate: fit the numbers of a platform to measurements, so that a user's own machine becomes a platform. */
#ifndef REPLAY_CALIBRATE_H
#define REPLAY_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "trace/err.h"

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

struct calibration {
    struct calibrated numbers[CALIBRATED_MAX];
    size_t count;
    char notes[8][200]; /* what could not be told */
    size_t note_count;
};

/* placement: CSV files with the header what,bytes,ms; what is copy_hd, copy_dh, mapping, first_touch, flush_cpu,
 * flush_gpu. */
int calibrate_placement(struct calibration *c, const char *const *paths, size_t count, struct err *err);

/* uvm: recordings (traces). From migration records: bandwidth and cost per record in each direction; the gap
 * between batches is reported, not fitted: several costs share it. Times are traced times. */
int calibrate_uvm(struct calibration *c, const char *const *paths, size_t count, struct err *err);

/* The platform file: base and the fitted numbers, each with what it was fitted to. */
int calibration_write(const struct calibration *c, const char *name, const char *base, FILE *out, struct err *err);

#endif
