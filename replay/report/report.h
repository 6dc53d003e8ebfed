/* report: runs of any number of results brought into rows: plain, or pivoted by any parameter, with each metric's
 * declared aggregate, and the best of the fixed policies where several were run. Pure: text in, cells out; printing is
 * cmd's. */
#ifndef REPLAY_REPORT_REPORT_H
#define REPLAY_REPORT_REPORT_H

#include "replay/results/runs.h"
#include "replay/run/outcome.h"

enum report_aggregate {
    REPORT_DECLARED, /* what the engine's table says of the metric */
    REPORT_SUM,
    REPORT_MIN,
    REPORT_MAX,
    REPORT_MEAN,
    REPORT_GEOMEAN
};

struct report_options {
    const char *metrics;             /* comma-separated; NULL: the engine's headline */
    const char *by;                  /* a row for each "kernel" or "allocation" of a run, or for each value of any other
                                        key, with what remains of the inputs aggregated; NULL: whole runs */
    const char *pivot;               /* a key whose values become columns; NULL: one row per run */
    enum report_aggregate aggregate; /* of the last row of a pivot, and by a key */
    bool no_best;                    /* leave out the "best fixed" rows */
};

/* A cell is a number, an interval, a text or unknown. */
struct report_cell {
    char *text; /* NULL for numbers */
    const struct metric *metric;
    struct metric_value value;
    bool best; /* the best run of its group, by the engine's ranks */
};

struct report {
    size_t columns, rows;
    char **header;
    struct report_cell *cells; /* rows * columns */
};

/* The metric called `name` in the table of the engine of that name, or NULL. */
const struct metric *report_metric(const char *engine, const char *name);

/* The n-th metric by which policies of an engine rank, and whether more of it is better. Returns false past the last.
 */
bool report_rank(const char *engine, size_t n, char *name, size_t size, bool *more);

/* Bring runs into rows. On failure (an unknown metric or key, no runs) *err says which are known. */
int report_make(struct report *report, struct run_set *runs, const struct report_options *options, struct err *err);
void report_release(struct report *report);

/* Combine n values. Unknown for n = 0, or for a geometric mean with values that are negative; one zero gives zero. */
struct metric_value report_aggregate(enum report_aggregate how, const struct metric *metric, const double *values,
                                     size_t n);

/* Append to the set, for each engine's input, platform and settings under which several `fixed` runs stand, a copy of
 * the fastest one called "best fixed". */
int report_add_best(struct run_set *runs, struct err *err);

#endif
