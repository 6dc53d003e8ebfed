/* prediction_log: what plans predicted beside what recordings with them measured, a row each in a CSV file that
 * `offchip diff --ledger` appends to and `make accuracy WITH=FILE` reads. Nothing is ever fitted to it. */
#pragma once

#include <stddef.h>

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

/* Texts may be NULL: "". Numbers are NAN where unknown, and empty in the file. */
struct prediction {
    const char *texts[LEDGER_TEXTS];
    double predicted, low, high; /* low, high: the ends that the plan gave, if it did */
    double measured;
};

/* Add rows to the file at `path`, replaced as a whole; a row of a plan, recording and metric that it has stays as it
 * is. Two processes at once wait for each other. *added: how many are new. -1 with *err set; a file that is no ledger
 * is left as it is. */
int prediction_log_append(const char *path, const struct prediction *rows, size_t n, size_t *added, struct err *err);
