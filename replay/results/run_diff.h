/* run_diff: the differences between two sets of runs.
 *
 * Keys with one value in each set are compared; keys with several values in either (a grid's settings, policies,
 * inputs) match runs, and so does the engine. So two single runs are always one pair, and two sweeps are paired point
 * by point. Platform numbers are compared within a platform's name, parameters within a policy. Example: A holds tree
 * and none on bicg, B tree and adaptive on bicg at another oversubscription: tree is matched, oversubscription_pct
 * compared, none only in A, adaptive only in B. */
#pragma once

#include "replay/results/runs.h"

/* What a run was of, one by one. */
enum run_fact_kind {
    RUN_FACT_ENGINE,
    RUN_FACT_INPUT,
    RUN_FACT_PLATFORM,
    RUN_FACT_SETTING,
    RUN_FACT_NUMBER, /* of the platform */
    RUN_FACT_POLICY,
    RUN_FACT_PARAMETER, /* of the policy */
    RUN_FACT_BASELINE,
    RUN_FACT_VERSION,
    RUN_FACTS
};

extern const char *const run_fact_kinds[RUN_FACTS]; /* "engine", "input", .. */

enum run_diff_what {
    RUN_DIFF_FACT,   /* of what was run: kind says what */
    RUN_DIFF_METRIC, /* of a run */
    RUN_DIFF_ONLY    /* a run that only one has: a or b is true */
};

struct run_diff_row {
    enum run_diff_what what;
    enum run_fact_kind kind; /* of RUN_DIFF_FACT */
    char *engine;
    char *of;           /* the case: by what it was matched, but for the policy; "" where there is one case */
    char *policy;       /* with the parameters that it was matched by; "": of all, or it differs */
    char *name;         /* the metric, ends of intervals as NAME_lo and NAME_hi; the setting .. */
    json_t *a, *b;      /* NULL: not known there, or there is none */
    json_t *difference; /* b - a; NULL: one of them is no number */
    double percent;     /* of a; NAN: not known, or a is 0 */
};

struct run_diff {
    struct run_diff_row *rows; /* facts, then metrics run by run, then runs that only one has */
    size_t count, cap;
    size_t pairs, same; /* runs that were matched; of them without a different metric */
};

/* The sets must outlive it. -1 with *err set, and nothing to release: no memory. */
int run_diff_make(struct run_diff *diff, const struct run_set *a, const struct run_set *b, struct err *err);
void run_diff_release(struct run_diff *diff);

/* Whether there is any difference but of the version that made the runs. */
bool run_diff_differs(const struct run_diff *diff);
