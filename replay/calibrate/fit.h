/* fit: bounded least squares for calibrating platforms; small and dense.
 *
 * Finds x >= 0 that minimises the sum of (w_i (a_i . x - y_i))^2, by the active-set method of Lawson and Hanson
 * (Solving Least Squares Problems, 1974, chapter 23) over the normal equations, columns scaled to unit length. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/err.h"

enum { FIT_MAX = 16 };

struct fit {
    size_t terms; /* unknowns, at most FIT_MAX */
    double normal[FIT_MAX][FIT_MAX], right[FIT_MAX];
    double square, weight; /* sums of w y^2 and of w^2 */
    double sum;            /* sum of w^2 y, for r2 */
    size_t rows;
    /* Results of fit_solve(): */
    double x[FIT_MAX];
    double error[FIT_MAX]; /* standard error; infinite where the rows do not tell this unknown from the others */
    bool at_bound[FIT_MAX];
    double rms; /* root of the weighted mean of squared residuals */
    double r2;  /* 1 - residual / variance; 0 where y does not vary */
};

void fit_init(struct fit *fit, size_t terms);

/* One row: y = a . x, with weight w (1 for plain least squares, 1 / y for relative residuals). */
void fit_add(struct fit *fit, const double *a, double y, double w);

/* Solve. -1 with *err set for fewer rows than terms. */
int fit_solve(struct fit *fit, struct err *err);
