/* case_table: runs as cases x policies. Everything that shows results takes its rows, columns and labels from here.
 *
 * Cases are compared by value (run_case.h), and for parts of runs by the part too; policies by engine, name and
 * parameters. Two runs of one policy on one case that say the same are one run. If they say different things, and that
 * is because their speed-ups are relative to different runs, the case is one for each of these; else nothing can tell
 * them apart, which is an error that names both.
 *
 * Names are made afterwards: a row is named by the fewest keys that tell all rows apart (besides engine, workload or
 * inputs by role, platform, part and version, which are always among them where they differ): keys of the input's spec,
 * settings, and only where these are not enough the full input, its content, single numbers of the platform. Files of
 * one name are named with as many of their folders as it takes.
 *
 * One key may be set apart (the columns of a pivot, the axis of a figure): then cases that differ in it alone are one
 * row, policies that differ in it alone one series, and each run has its value in `apart`. No two runs share row,
 * series and value, but for those with twice[].
 *
 * case_table_make, read, case_table_release. The set must outlive the table. */
#ifndef REPLAY_RESULTS_CASE_TABLE_H
#define REPLAY_RESULTS_CASE_TABLE_H

#include "replay/results/runs.h"

struct case_table {
    const struct run_set *set;
    size_t rows, series;        /* in order of first appearance */
    size_t *row_of, *series_of; /* [run of the set] */
    bool *twice;                /* [run]: the same run stands earlier in the set */
    size_t key_count;
    char **keys;          /* in which rows differ, by name */
    char **texts;         /* [row * key_count + key]; "" where a row has no such key */
    char **row_labels;    /* "bicg 150 %", each different; never empty */
    char **series_labels; /* "fixed:granularity=4KiB": policies by the name of run_label.h, each different */
    char **apart;         /* [run]: the value of the key set apart, "-" where the run has none; NULL: no key is */
};

/* No runs are an empty table. `apart`: a key, or a parameter of a policy; NULL: none. -1 with *err set, and nothing to
 * release, if no run has that key, two runs cannot be told apart, or there is no memory. */
int case_table_make(struct case_table *table, const struct run_set *set, const char *apart, struct err *err);
void case_table_release(struct case_table *table); /* a zeroed one is allowed */

#endif
