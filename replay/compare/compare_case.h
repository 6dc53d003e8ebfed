/* compare_case: a comparison as a case, and its rows as runs of it, as results files and figures take them
 * (replay/results/run_case.h, runs.h).
 *
 * The case: engine "compare", the input by content, the platform with every number, the settings; with draws, their
 * number and seed too. A row is a run of policy "managed (tree, prefetched)"; its parameters are the row's with
 * "mechanism"; its metrics the row's with error_ratio; what to do for it stands behind its notes, each sentence after
 * COMPARE_TO_HAVE. */
#ifndef REPLAY_COMPARE_COMPARE_CASE_H
#define REPLAY_COMPARE_COMPARE_CASE_H

#include "replay/compare/compare.h"
#include "replay/results/results.h"

#define COMPARE_TO_HAVE "to have it: "

enum { COMPARE_NAME = 200 };

struct compare_case {
    struct run_case run_case;
    json_t *numbers;   /* of the platform before --set, {"uvm.compute_ns":200,..} */
    json_t *overrides; /* those that --set changed, in the same form */
    json_t *settings;  /* as in run_case, and the numbers of the platform as they were given */
};

/* For results of this program's `platform`, which has the numbers of --set in it. draws: those of the rows that were
 * drawn are another case. -1 with *err set: nothing to release. */
int compare_case_init(struct compare_case *c, const struct compare_request *request,
                      const struct compare_result *result, bool draws, struct err *err);
void compare_case_release(struct compare_case *c); /* a zeroed one is allowed */

/* "managed (tree, prefetched)". Returns buf. */
const char *compare_row_name(const struct compare_row *row, char buf[COMPARE_NAME]);

/* The i-th row as `replay --format json` would print it: {"policy","params","metrics","interval","notes"}, and
 * "unbound" where there is any. draws: with what came of them, robust_draws, robust_wins and robust_ties. NULL with
 * *err set. */
json_t *compare_run_json(const struct compare_result *result, size_t i, bool draws, struct err *err);

/* All rows as `replay --format json` prints runs: what run_set_add_json() takes. NULL with *err set. */
json_t *compare_runs_json(const struct compare_request *request, const struct compare_result *result, struct err *err);

/* A run of a results file as the row that it was made from, added to the result, whose allocations are set. 1: added;
 * 0: it is of a mechanism that this program does not know; -1 with *err set. */
int compare_row_read(struct compare_result *result, const struct results_run *run, struct err *err);

#endif
