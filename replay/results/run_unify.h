/* run_unify: runs of several files brought together: the same run is there once, and one that gave other numbers is an
 * error. */
#ifndef REPLAY_RESULTS_RUN_UNIFY_H
#define REPLAY_RESULTS_RUN_UNIFY_H

#include "replay/results/runs.h"

/* Of runs with one key the first stays. -1 with *err set, which names both files, policy and input, if two of them have
 * other metrics, intervals or parts; or if there is no memory. The set is whole after a failure. */
int run_set_unify(struct run_set *set, struct err *err);

/* Whether two JSON values are equal, numbers by value: 5 is 5.0, which is how SQLite may give it back. */
bool run_same_value(const json_t *a, const json_t *b);

#endif
