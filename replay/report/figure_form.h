/* figure_form: what the figures of results are drawn from. Runs of one engine as lines x values: a line is a policy
 * under one case, a value is one of the key that --over sets apart. */
#pragma once

#include "replay/report/chart.h"

enum { FORM_METRICS = 16 };

struct figure_form {
    const struct figure_input *input;
    const char *engine;
    char metrics[FORM_METRICS][64];
    size_t metric_count;
    struct run_set runs;
    struct case_table table; /* line = row * table.series + series */
    size_t inputs;           /* the most in one run; 1: nothing is aggregated */
    char **values;           /* of the key, ascending; borrowed from the table; NULL without a key */
    size_t value_count;      /* 1 without a key */
    const struct run **at;   /* [line * value_count + value]; NULL: no such run */
};

/* Take the metrics that the command named, else `metric`, else the engine's first rank; `over`: the key set apart,
 * NULL: none. Runs that differ in their inputs alone become one if the command asks for it. */
int figure_form_init(struct figure_form *form, const struct figure_input *input, const char *metric, const char *over,
                     struct err *err);
void figure_form_release(struct figure_form *form); /* a zeroed one is allowed */

/* "f3fs, vcs=1": a line's policy and case, without what all share; freed by the caller. NULL: no memory. */
char *figure_form_label(const struct figure_form *form, size_t line);

/* "time", "fairness index": a metric for people, without its unit. Returns buf. */
const char *figure_form_name(const char *metric, char *buf, size_t size);

/* What an axis that ends at `most` divides a metric by, and the name of that unit. */
double figure_form_unit(const struct figure_form *form, const char *metric, double most, const char **name);

/* A run's metric; false: there is no run, it does not know it, or it is the baseline of its own speed-up. */
bool figure_form_take(struct chart_bar *bar, const struct run *run, const char *metric);

/* Note how many runs do not know the metric; `drawn` of the form's runs do. -1 with *err set if none does. */
int figure_form_check(const struct figure_form *form, const char *metric, size_t drawn, struct err *err);

/* The vertical axis' label: what, the aggregate, whether logarithmic, the unit; narrow: that on a line of its own. */
void figure_form_ylabel(const struct figure_form *form, FILE *script, const char *metric, const char *what, bool log,
                        const char *unit, bool narrow);

/* Whether a metric is a speed-up over a baseline, which is the line at 1. */
bool figure_form_is_gain(const char *metric);
void figure_form_line_at_one(FILE *script);
