/* replay_case: the case of a request (replay/results/run_case.h), and what names its runs in a results file. Works on
 * a prepared result as well as on a finished one. */
#ifndef REPLAY_RUN_REPLAY_CASE_H
#define REPLAY_RUN_REPLAY_CASE_H

#include "replay/results/run_case.h"
#include "replay/run/engine.h"

/* -1 with *err set on failure: then there is nothing to release. */
int replay_case(const struct replay_request *request, const struct replay_result *result, struct run_case *run_case,
                struct err *err);

/* {"policy":..,"params":{..}}: what the speed-ups of the request are relative to. NULL with *err set. */
json_t *replay_relative_to(const struct replay_result *result, struct err *err);

/* The key of one of its runs, an index into result->policies. */
int replay_key(const struct run_case *run_case, const struct replay_result *result, size_t run, char key[RUN_CASE_HASH],
               struct err *err);

#endif
