#include "replay/verify/verify.h"

#include "replay/results/results.h"
#include "trace/base/version.h"
#include "trace/store/schema.h"

const struct metric verify_results_metrics[] = {
    {"version", METRIC_INT, METRIC_MAX, "of the file; since version 3 every run carries a hash"},
    {"runs", METRIC_INT, METRIC_SUM, "runs"},
    {"other_release_runs", METRIC_INT, METRIC_SUM, "runs that another release of offchip made"},
    {"metrics", METRIC_INT, METRIC_SUM, "rows in table metrics"},
    {"parts", METRIC_INT, METRIC_SUM, "rows in table parts"},
    {"platforms", METRIC_INT, METRIC_SUM, "sets of platform numbers"},
    {0}};

static int check(const char *path, struct results_counts *counts, struct err *err)
{
    struct results *results = results_open(path, RESULTS_READ, err);
    int failed = results ? results_check(results, counts, err) : -1;
    results_close(results);
    return failed;
}

int verify_results(struct verify *verify, const char *path, struct err *err)
{
    struct results_counts counts;
    *verify = (struct verify){.complete = true};
    if (check(path, &counts, err) || outcome_init(&verify->outcome, verify_results_metrics, err))
        return -1;
    struct outcome *o = &verify->outcome;
    outcome_int(o, "version", counts.version);
    outcome_int(o, "runs", counts.runs);
    outcome_int(o, "other_release_runs", counts.foreign);
    outcome_int(o, "metrics", counts.metrics);
    outcome_int(o, "parts", counts.parts);
    outcome_int(o, "platforms", counts.platforms);
    if (counts.version < SCHEMA_RESULTS_VERSION)
        outcome_note(o,
                     "a results file of version %d carries no hashes: its tables and texts were checked, its numbers "
                     "cannot be",
                     counts.version);
    verify->complete = !counts.sweeps;
    if (counts.sweeps)
        outcome_note(o, "%lld sweeps of it have not ended: the same commands go on from there",
                     (long long)counts.sweeps);
    if (counts.foreign)
        outcome_note(o,
                     "%lld of %lld runs were made by another release of offchip than this one, %s, whose models may "
                     "give other numbers",
                     (long long)counts.foreign, (long long)counts.runs, offchip_release);
    return 0;
}
