/* diff_runs: in what runs differ, printed; and the operands that name them: FILE or FILE#N. */
#ifndef CMD_DIFF_RUNS_H
#define CMD_DIFF_RUNS_H

#include "replay/results/run_diff.h"

/* Whether an operand names runs: a results file or JSON, or one run of it. */
bool diff_runs_is(const char *operand);

/* FILE#N where there is no file of that name: FILE and N; else the operand and 0. Freed with free(); NULL: no memory.
 */
char *diff_runs_split(const char *operand, size_t *nth);

/* The documented object; NULL as json_tree.h says. operands, sets: of both. */
json_t *diff_runs_json(const struct run_diff *diff, const char *const operands[2], const struct run_set sets[2]);

void diff_runs_csv(const struct run_diff *diff);

/* Tables for people. Unless `all`, the numbers of a platform where they are many, and parts of runs, are left out:
 * *numbers and *parts get how many. */
void diff_runs_table(const struct run_diff *diff, const char *const operands[2], const struct run_set sets[2], bool all,
                     size_t *numbers, size_t *parts);

#endif
