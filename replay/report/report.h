/* report: arranges runs in rows, plain or pivoted by any parameter, with each metric's declared aggregate, and the best
 * fixed policy where several ran. case_table gives rows, columns and names; cmd prints. */
#pragma once

#include <stdio.h>

#include "replay/report/plot.h"
#include "replay/results/runs.h"
#include "replay/run/aggregate.h"

struct report_options {
    const char *metrics;          /* comma-separated; NULL: the engine's headline */
    const char *by;               /* a row for each "kernel" or "allocation" of a run, or for each value of any other
                                     key, with what remains of the inputs aggregated; NULL: whole runs */
    const char *pivot;            /* a key whose values become columns; NULL: one row per run */
    enum aggregate_how aggregate; /* of the last rows of a pivot, and by a key */
    bool ranks;                   /* behind a headline, the metrics by which its policies rank */
    bool all;                     /* without `metrics`: every metric of the engines, not their headline */
    bool no_best;                 /* leave out the "best fixed" rows */
};

/* Nothing in its case beats a best run, by the engine's ranks (robust_beats()); never one that starved. Where the error
 * of its time is known and several cannot be told apart, each is tied. */
struct report_mark {
    bool best, tied;
};

/* The measured error of what its engine ranks by first, a ratio: the row's own, its policy's or the engine's; 0: none.
 */
double report_error(const struct run *run);
/* A run's value, by which it is judged: verdict_take(), with what it has in common with others of its recording. */
struct verdict;
struct verdict_answer;
void report_take(const struct verdict *verdict, struct verdict_answer *answer, const struct run *run,
                 const char *metric, double error);

/* A cell is a number, an interval, a text or unknown. */
struct report_cell {
    char *text; /* NULL for numbers */
    const struct metric *metric;
    struct metric_value value;
    struct report_mark mark; /* of a policy */
};

struct report {
    size_t columns, rows;
    size_t texts; /* the first columns hold texts, the others numbers */
    char **header;
    struct report_cell *cells; /* rows * columns */
    bool *intervals;           /* [column]: a cell of it has one */
    char pivoted[64];          /* the metric of a pivot */
    bool warned;               /* the last of the texts are the runs' warnings */
    size_t more;               /* metrics that some run knows and that are no column of a headline */
    size_t *run_of, *case_of;  /* [row]: place in the set of runs, number of the case; NULL: a pivot */
    char answer[1024];         /* who is best (replay/run/verdict.h); "": there is nothing to compare */
    json_t *notes;             /* sentences: what is left out, what starved, what other releases made */
};

/* Bring runs into rows. On failure (an unknown metric or key, runs that cannot be told apart) *err says which. */
int report_make(struct report *report, struct run_set *runs, const struct report_options *options, struct err *err);
void report_release(struct report *report);

/* Of each platform that runs were on, the line that says whose numbers they are and on what these rest, as the runs
 * noted it (replay/run/platform_use.h); its name alone where they did not; then what limits the runs' inputs. -1: no
 * memory. */
int report_platforms(const struct run_set *runs, json_t *lines);

/* html: runs as one HTML file: a section for each engine, with the best policies, a table that sorts, figures. */

/* Write the runs with the metrics of a comma-separated list (NULL: each engine's headline), those by which policies
 * rank, and figures. Names in the results cannot become markup or script; the page asks for nothing outside itself.
 * missing: sentences on figures that could not be drawn are added; the page has a line in place of each. */
int html_write(const struct run_set *runs, const char *metrics, const char *version, FILE *out, json_t *missing,
               struct err *err);

/* A figure inside a page: SVG in base64, freed by the caller, or NULL. Returns what plot_draw_bytes() does. */
int html_figure(const struct figure *figure, const struct figure_input *input, char **svg, struct err *err);

/* decision: the page of a comparison: the answer, its table, how to have it, why, how sure, then everything else. One
 * HTML file without script that needs no network: plain tables, figures of replay/report as SVG inside. */

struct compare_request;
struct compare_result;

struct decision {
    const struct compare_request *request;
    const struct compare_result *result;
    const char *command; /* that made it, to be shown */
    const char *version; /* of offchip */
    json_t *missing;     /* as html_write()'s */
};

/* -1 with *err set: the file could not be written, or no memory. */
int decision_write(const struct decision *decision, FILE *out, struct err *err);
