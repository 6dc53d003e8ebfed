/* verify: does a unified-memory recording agree with itself and with the rules that made it.
 *
 * Self-check: the services are rebuilt, each one's prefetch is predicted with the driver's tree and compared. Closure:
 * every page is where the records say it is. The verdict "incomplete" rests on a contradiction, a count of drops, an
 * interrupted recording, or a silence: a kernel ran on without a record, far beyond its usual gaps, while pages of its
 * memory had not moved. What need not be a loss is a finding only. Each finding is a sentence with numbers and a place.
 * Source of the rules: replay/verify/verify_block.h, trace/derived/batches.h. */
#pragma once

#include <stdbool.h>

#include "replay/run/outcome.h"
#include "replay/verify/verify_block.h"
#include "trace/derived/recording.h"

extern const struct metric verify_metrics[];

struct verify {
    struct outcome outcome; /* of verify_metrics; its notes are the findings */
    bool nothing;           /* no unified-memory record: nothing to verify */
    bool complete;          /* the verdict */
};

/* Verify the one recording of a trace that fits `wanted`. */
int verify_run(struct verify *verify, struct store *store, struct recording wanted, struct err *err);
void verify_release(struct verify *verify);

/* --- verify_results: is a results file what was written: every run, every metric, every part, and none missing --- */

extern const struct metric verify_results_metrics[];

/* Verify the results file at `path`. *verify gets the metrics, and as notes the runs it could not check or that another
 * release made; a file with an unended sweep is incomplete. A file that was changed fails: *err names the first run
 * that differs, and nothing is to be released. */
int verify_results(struct verify *verify, const char *path, struct err *err);
