/* chart: bars in groups, each with what is known of it: a number, an interval as an error bar, "n/a", "0". */
#pragma once

#include <stdio.h>

#include "replay/report/plot.h"
#include "replay/results/case_table.h"

struct chart_bar {
    bool run;             /* there is a run: what is not known of it is shown as "n/a" */
    double value, lo, hi; /* value: NAN where it is not known; lo = hi where there is no interval */
};

struct chart {
    size_t groups, series;
    char *const *group_names;
    char *const *series_names;  /* "": the only series, which needs no name */
    const struct style *styles; /* [series] */
    struct chart_bar *bars;     /* [group * series + series] */
    const char *block;          /* data blocks are called $BLOCK0 .., one for each series drawn */
    bool stacked;               /* a group's bars on top of each other */
    bool box;                   /* from `lo` to `hi`, with a line at the value */
    bool log;                   /* the axis */
    double base;                /* bars go from it, up or down; on a logarithmic axis not 0 */
    const char *labels;         /* what groups are ("case"): the axis' label; NULL: none */
    bool third;                 /* line of the title, for several panels */
    size_t panel, panels; /* of several over each other, all with one axis, which stands under the last; 0: of one */
};

/* All bars unknown, no runs. Of `engine`, NULL: series are no policies. -1: no memory. chart_release(). */
int chart_init(struct chart *chart, const char *engine, char *const *groups, size_t group_count, char *const *series,
               size_t series_count, struct err *err);
void chart_release(struct chart *chart);

/* What a run says of a metric, over `unit`. Whether it knows it. */
bool chart_take(struct chart_bar *bar, const struct run *run, const char *metric, double unit);

/* Where the bars of a group stand: the middle of the i-th of n, and half the width of one. */
double chart_at(size_t group, size_t i, size_t n, double *half);

/* Data, axes and "plot ..", without a line's end: more may follow. Series without a bar are left out. */
void chart_write(const struct figure_input *input, FILE *script, const struct chart *chart);

/* The vertical axis' range and tics, of which four or more have labels. From 0: least <= 0. */
void chart_axis(FILE *script, double least, double most, bool log);

/* The distance of tics on a linear axis that ends at `most`. */
double chart_step(double most);

/* style: the look of a series, the same in every figure. A policy has one hue everywhere; its variants (parameters) are
 * lighter or darker; another eviction policy has another hue. Other series are blue-grey or brown. In grey, fills,
 * dashes and points tell series apart as long as there are enough.
 *
 * Policies are in the order of `offchip list policies`, their variants by their numbers. */

struct style {
    unsigned colour; /* 0xRRGGBB */
    int fill;        /* 0: solid, else the number of a pattern of gnuplot */
    int dash, point; /* of gnuplot */
};

/* Styles of n series by policy name as in case tables ("fixed:granularity=4KiB", "tree+random"). The policy's place in
 * the list gives the hue; lightness and grey patterns differ from earlier series that would look the same. */
void style_policies(const char *engine, char *const *names, size_t n, struct style *out);

/* The i-th of what is no policy. */
struct style style_plain(size_t i);

/* The i-th of lines that are cases: in all colours, since no line is a policy there. */
struct style style_line(size_t i);

/* The order in which two policies of an engine stand: negative, 0 or positive. */
int style_order(const char *engine, const char *a, const char *b);

/* Put the series of a table into that order, unless the engine has no list of policies. */
int style_sort(struct case_table *table, struct err *err);

/* "set linetype 1 .." to 8: lines and points of what is no policy. */
void style_put_lines(FILE *script);
/* " linecolor .. fillstyle .." of a bar. */
void style_put_fill(FILE *script, const struct style *style);
