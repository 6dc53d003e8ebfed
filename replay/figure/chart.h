/* chart: bars in groups, each with what is known of it: a number, an interval as an error bar, "n/a", "0". The bars of
 * every figure with groups are drawn here. */
#ifndef REPLAY_FIGURE_CHART_H
#define REPLAY_FIGURE_CHART_H

#include "replay/figure/plot.h"
#include "replay/figure/style.h"

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
    bool log;                   /* from `base` up or down; else from 0 */
    int log_of;                 /* of the axis: 2 or 10 */
    double base;
    const char *labels;   /* what groups are ("case"): the axis' label; NULL: none */
    size_t panel, panels; /* as struct chart_axis */
};

/* All bars unknown, no runs. Of `engine`, NULL: series are no policies. -1: no memory. chart_release(). */
int chart_init(struct chart *chart, const char *engine, char *const *groups, size_t group_count, char *const *series,
               size_t series_count, struct err *err);
void chart_release(struct chart *chart);

/* What a run says of a metric, over `unit`. Whether it knows it. */
bool chart_take(struct chart_bar *bar, const struct run *run, const char *metric, double unit);

/* Where the bars of a group stand: the middle of the i-th of n, and half the width of one. */
double chart_at(size_t group, size_t i, size_t n, double *half);

/* Data, axes and "plot ..", without a line's end: more may follow. Series without a bar are not drawn, nor in the
 * legend. */
void chart_write(const struct figure_input *input, FILE *script, const struct chart *chart);

/* The distance of tics on a linear axis that ends at `most`. */
double chart_step(double most);

/* A categorical axis: names at 0, 1, .. */
struct chart_axis {
    char *const *names;
    size_t count;
    const char *labels;   /* what they are ("case"); NULL: nothing */
    size_t panel, panels; /* of several over each other, all with this axis, it stands under the last; 0: of one */
    size_t entries, entry_chars; /* in the legend over it, if it has panels */
};

/* Names on several lines where there is room, else slanted, and the figure higher. */
void chart_tics(const struct figure_input *input, FILE *script, const struct chart_axis *axis);

#endif
