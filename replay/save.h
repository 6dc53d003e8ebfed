/* save: the runs of a request into a results file. */
#ifndef REPLAY_SAVE_H
#define REPLAY_SAVE_H

#include "replay/engine.h"
#include "trace/results.h"

/* Add all runs in one transaction. position: of the first run, negative to append. */
int replay_save(struct results *results, const struct replay_request *request, const struct replay_result *result,
                int64_t position, const char *version, struct err *err);

/* Whether every run that the prepared result would give is in the file: 1, 0 or -1 with *err set. */
int replay_saved(struct results *results, const struct replay_request *request, const struct replay_result *result,
                 const char *version, struct err *err);

#endif
