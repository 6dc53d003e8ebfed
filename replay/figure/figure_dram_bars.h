/* figure_dram_bars: runs of the dram engine as bars. A bar is a policy under one case but for its inputs: each metric's
 * own aggregate over the inputs, and nothing else is put together. */
#ifndef REPLAY_FIGURE_FIGURE_DRAM_BARS_H
#define REPLAY_FIGURE_FIGURE_DRAM_BARS_H

#include "replay/figure/figures.h"

/* Runs aggregated over inputs: rows (cases but for inputs and the key apart) x policies x values of the key. */
struct dram_bars {
    struct run_set runs;
    struct case_table table;
    size_t fewest, most;   /* inputs in one run */
    char **values;         /* of the key, ascending; borrowed from the table */
    size_t value_count;    /* 1 where there is no such key */
    const struct run **at; /* [(row * series + policy) * value_count + value]; NULL: no such run */
};

/* Runs that know all n metrics, of one case and policy, that differ in their inputs, and in `apart` (NULL: nothing),
 * become one for each value of that. What is left out is noted. dram_bars_release(). */
int dram_bars_init(struct dram_bars *bars, const struct figure_input *input, const char *const *metrics, size_t n,
                   const char *apart, bool as_given, struct err *err);
void dram_bars_release(struct dram_bars *bars);

/* "vcs" if any run has it, else NULL. */
const char *dram_bars_channels(const struct figure_input *input);

/* "f3fs", "f3fs mode=x": the policy and what rows differ in, then `more` and `value`; freed by the caller. */
char *dram_bars_label(const struct dram_bars *bars, size_t bar, const char *more, const char *value);

/* "fairness index", or "fairness index, geomean" over several inputs; freed by the caller. */
char *dram_bars_metric(const struct dram_bars *bars, const char *title, const char *metric);

/* "WHAT (UNIT)", or "WHAT, geomean over 180 inputs (UNIT)"; metric: NULL for several. */
void dram_bars_axis(FILE *script, const struct dram_bars *bars, const char *what, const char *metric, const char *unit);

#endif
