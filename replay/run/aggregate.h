/* aggregate: one number for several runs of one policy, as the metric itself declares; nothing else combines runs.
 * Policies are never mixed; speed-ups leave out the runs that they are relative to, unless there are no others. */
#pragma once

#include "replay/results/runs.h"
#include "replay/run/outcome.h"

enum aggregate_how {
    AGGREGATE_DECLARED, /* what the engine's table says of the metric; the mean where it has none */
    AGGREGATE_SUM,
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_MEAN,
    AGGREGATE_GEOMEAN
};

/* "sum", "min", "max", "mean", "geomean"; metric: NULL for one that no engine declares. */
const char *aggregate_name(enum aggregate_how how, const struct metric *metric);

/* Combine n values. Unknown for n = 0, or for a geometric mean with values that are negative; one zero gives zero. */
struct metric_value aggregate_values(enum aggregate_how how, const struct metric *metric, const double *values,
                                     size_t n);

/* A metric over n runs of one engine and policy (asserted). One interval makes an interval, without a value unless all
 * have one; one estimate makes an estimate. *left_out (may be NULL): runs that do not know the metric. */
int aggregate_runs(enum aggregate_how how, const char *metric, const struct run *const *runs, size_t n,
                   struct metric_value *value, size_t *left_out, struct err *err);

/* Replace the runs by one for each policy, value of `key` (NULL: any) and case without its inputs, with every metric
 * aggregated over the inputs. A run with a key is a part named by its value. *fewest and *most (may be NULL): runs in
 * one; *without: runs left out for lack of the key. -1 with *err set. */
int aggregate_inputs(struct run_set *runs, const char *key, enum aggregate_how how, size_t *fewest, size_t *most,
                     size_t *without, struct err *err);
