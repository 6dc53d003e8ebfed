/* prediction_log: what plans predicted beside what recordings with them measured, a row each in a CSV file: `offchip
 * diff
 * --ledger` appends, `offchip calibrate ledger` says how far off the predictions were. Nothing is ever fitted to it. */
#ifndef REPLAY_CALIBRATE_PREDICTION_LOG_H
#define REPLAY_CALIBRATE_PREDICTION_LOG_H

#include <stddef.h>
#include <stdio.h>

#include "trace/base/err.h"

enum prediction_log_text {
    LEDGER_PROGRAM,   /* as the plan has it, "synth:triad,bytes=64MiB" */
    LEDGER_PLATFORM,  /* "h200" */
    LEDGER_PLAN,      /* hash of the plan's bytes, 32 digits */
    LEDGER_RECORDING, /* hash of the recording's content, 32 digits */
    LEDGER_MECHANISM, /* "managed"; of plans written by hand "" */
    LEDGER_POLICY,    /* "tree, prefetched" */
    LEDGER_METRIC,    /* "time_ns" */
    LEDGER_STATE,     /* of the recording: "whole", "incomplete", or "no plan": then it is not judged */
    LEDGER_TEXTS
};

/* Numbers are NAN where unknown, and empty in the file. */
struct prediction {
    char *texts[LEDGER_TEXTS];
    double predicted, low, high; /* low, high: the ends that the plan gave, if it did */
    double measured;
};

struct prediction_log {
    struct prediction *rows;
    size_t count, cap;
};

/* Read a file; one that is not there is an error. What is no ledger is an error that names file and line. */
int prediction_log_read(struct prediction_log *ledger, const char *path, struct err *err);
/* The same of text in memory, which need not end with zero. On failure there is nothing to release. */
int prediction_log_parse(struct prediction_log *ledger, const char *name, const char *text, size_t bytes,
                         struct err *err);
void prediction_log_release(struct prediction_log *ledger); /* a zeroed one is allowed */

/* Append a copy of a row: 1; 0: one of that plan, recording and metric is there, and stays; -1 with *err set. */
int prediction_log_add(struct prediction_log *ledger, const struct prediction *row, struct err *err);

int prediction_log_write(const struct prediction_log *ledger, FILE *to);

/* Add rows to the file at `path`, replaced as a whole; two processes at once are an error. *added: how many are new. */
int prediction_log_append(const char *path, const struct prediction *rows, size_t n, size_t *added, struct err *err);

/* How far off predictions were: of one platform, mechanism and metric. */
struct prediction_error {
    const char *platform, *mechanism, *metric; /* the ledger's */
    size_t n;                                  /* rows that are judged: both numbers are above 0, or both are 0 */
    size_t left_out;                           /* not measured, incomplete, without the plan, or one of both is 0 */
    double mean_abs_log;                       /* mean of |ln(measured / predicted)|; NAN without rows */
    double mean_log;                           /* mean of ln(measured / predicted): above 0, predictions are too low */
    double worst;                              /* measured / predicted, farthest from 1 */
    size_t bounded, within;                    /* rows with ends; of them, measured between them */
};

/* In order of first appearance; freed by the caller. NULL with *err set without memory. */
struct prediction_error *prediction_log_errors(const struct prediction_log *ledger, size_t *count, struct err *err);

#endif
