/* verify_results: is a results file what was written: every run, every metric, every part, and none missing. */
#ifndef REPLAY_VERIFY_VERIFY_RESULTS_H
#define REPLAY_VERIFY_VERIFY_RESULTS_H

#include "replay/verify/verify.h"

extern const struct metric verify_results_metrics[];

/* Look at the file at `path`; of a sound one *verify holds what was looked at, its notes what could not be, and which
 * runs another release made; it is incomplete if a sweep of it has not ended. A file that is not what was written is a
 * failure: *err names the first run that differs, and there is nothing to release. */
int verify_results(struct verify *verify, const char *path, struct err *err);

#endif
