/* diff_runs: offchip diff of runs: results files, or JSON of replay, or single runs of them. */
#ifndef CMD_DIFF_DIFF_RUNS_H
#define CMD_DIFF_DIFF_RUNS_H

#include <stdbool.h>

#include "cmd/console/opt.h"

struct diff_runs_how {
    enum opt_format format;
    bool all;    /* tables: every number of the platform, and the parts of runs, too */
    bool status; /* exit status 1 if they differ */
};

/* Whether an operand names runs: FILE or FILE#N, a results file or JSON. */
bool diff_runs_is(const char *operand);

/* Returns an exit status. */
int diff_runs(const char *a, const char *b, const struct diff_runs_how *how);

#endif
