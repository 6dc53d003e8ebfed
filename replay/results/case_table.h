/* case_table: runs as cases x policies: the rows, columns and labels of everything that shows results.
 *
 * Cases are compared by value (run_case.h), parts of runs also by part; policies by engine, name and parameters. Two
 * equal runs of one policy on one case are one run. If they differ only because their baselines do, each baseline makes
 * a case; any other difference is an error that names both.
 *
 * The fewest keys that tell all rows apart name a row: keys of the input's spec, settings, and if needed the full
 * input, its content, numbers of the platform. Engine, workload or inputs by role, platform, part and version are named
 * wherever they differ. Files of one name get as many folders as they need.
 *
 * One key may be set apart (the columns of a pivot, the axis of a figure). Cases that differ in it alone are then one
 * row, policies that differ in it alone one series, and each run has its value in `apart`. Only runs with twice[] may
 * share row, series and value.
 *
 * case_table_make, read, case_table_release. The set must outlive the table. */
#pragma once

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
    char **series_labels; /* "fixed:granularity=4KiB": policies by run_label(), each different */
    char **apart;         /* [run]: the value of the key set apart, "-" where the run has none; NULL: no key is */
};

/* No runs are an empty table. `apart`: a key, or a parameter of a policy; NULL: none. -1 with *err set, and nothing to
 * release, if no run has that key, two runs cannot be told apart, or there is no memory. */
int case_table_make(struct case_table *table, const struct run_set *set, const char *apart, struct err *err);
void case_table_release(struct case_table *table); /* a zeroed one is allowed */

/* case_keys: names and texts of the keys by which cases are told apart. */

/* "tree:min_faults=1,threshold=51": what a run's speed-ups are relative to; freed by the caller. NULL: no memory. */
char *case_keys_baseline(const struct run *run);

/* "mem", or "mem2" for the second input of that role; `none` for one without a role. */
void case_keys_role(const json_t *inputs, size_t at, const char *none, char *name, size_t size);

/* A JSON string or number as text, reals with all their digits; "" for anything else. NULL: no memory. */
char *case_keys_text(const json_t *value);

/* The setting, number or key of the input with the most different numbers; freed by the caller. NULL: none has two. */
char *case_keys_axis(const struct run_set *set);

/* "64KiB", "2us" or "1.5" as a number. False: it is none. */
bool case_keys_number(const char *text, double *value);

/* run_label: what the policy of a run is called, as in a replay (policy_label() of models/base/policy.h). */

/* "fixed:granularity=2MiB", without the parameter `apart` (NULL: with all); freed by the caller. Of a policy or a
 * parameter that this program does not have it cannot know the default: such parameters stand where they are members of
 * `differing` (NULL: none are). NULL: no memory. */
char *run_label(const struct run *run, const char *apart, const json_t *differing);
