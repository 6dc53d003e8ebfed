/* results: runs in one SQLite file: what was run, what came out, and a key by which a finished run is recognised.
 *
 * results_open, results_put / results_has / results_each / results_merge, results_finish (of a new file),
 * results_close. Every put is one transaction; several processes may add to one file, each waits for the others; no
 * signal comes between the beginning and the end of a transaction in place (output.h). Every run carries a hash, and
 * the file a digest of them: what was changed, lost or added by anything else is an error when it is read. The file is
 * described in replay/results/results.sql and docs/trace-format.md. One thread per object. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/results/run_case.h"

struct results;

enum results_mode {
    RESULTS_READ,   /* an existing file */
    RESULTS_CREATE, /* a new file, there from results_finish() on; an existing one is an error */
    RESULTS_FORCE,  /* likewise, in place of what is there */
    RESULTS_APPEND, /* an existing results file is added to, else a new one made */
};

/* One policy on one input. Texts are UTF-8; NULL counts as "" (JSON: as an empty object or array). */
struct results_run {
    const char *key; /* unique, at most 64 bytes; NULL: worked out by results_key() */
    int64_t
        position; /* order of reporting, from 0; negative: after all there are. A run put again keeps the
                   smaller one, so that the order does not depend on which of two points that share it ended first */
    const char *engine, *input, *input_hash, *platform, *policy;
    const char *inputs;              /* [{"role":..,"input":..,"hash":..},..]: all of them */
    const char *numbers;             /* {"uvm.compute_ns":200,..}: all of the platform's, before overrides */
    const char *overrides;           /* those given instead of them, in the same form */
    const char *settings, *params;   /* JSON objects; settings also have the overrides as they were given */
    const char *relative_to;         /* what speed-ups are relative to, {"policy":..,"params":{..}} */
    const char *metrics, *intervals; /* JSON objects: a number or null; [lo, hi], null: the value is an estimate */
    const char *notes;               /* a JSON array of texts */
    const char *parts;               /* {"kernel":[{"part":name,"metrics":{..},"interval":{..}},..],..} */
    bool baseline;                   /* speed-ups of its request are relative to this run */
    const char *version;             /* of offchip */
};

/* NULL with *err set on failure. */
struct results *results_open(const char *path, enum results_mode mode, struct err *err);

/* Give a new file its name; of one that is added to, nothing is left to do. Nothing can be put afterwards. */
int results_finish(struct results *results, struct err *err);

void results_close(struct results *results); /* NULL is allowed; a new file that is not finished is gone */

/* Of a run, or a part of one, as `replay --format json` prints it: the intervals as results keep them, null for each
 * name of "unbound". A new object, {} where it has none; NULL if there is no memory. */
json_t *results_intervals(const json_t *object);

/* "synth:x", "mem=A + pim=B": inputs, or the one, as JSON has them; freed by the caller. NULL: no memory. */
char *results_input_text(const json_t *input);

/* The case of a run. On failure (a text that is no JSON) there is nothing to release. */
int results_case(const struct results_run *run, struct run_case *run_case, struct err *err);

/* run_case_key() of a run. -1 with *err set if a JSON text is none. */
int results_key(const struct results_run *run, char key[RUN_CASE_HASH], struct err *err);

/* Add n runs in one transaction. A run with a key that is there must be the same run: it stays, once; with other
 * numbers it is an error that names the run. On failure none is added. */
int results_put(struct results *results, const struct results_run *runs, size_t n, struct err *err);

/* Whether a run with this key is there: 1, 0, or -1 with *err set. The file is not checked: results_check() does. */
int results_has(struct results *results, const char *key, struct err *err);

/* Call fn for every run by (position, input, settings, key), the same for all versions of offchip, which a key holds.
 * Texts are valid until fn returns. fn returns 0 to go on; anything else stops and is returned. -1 with *err set on
 * failure: the file is checked on the way, each run against its hash before fn sees it, and that none is missing at the
 * end; what fn has seen counts only if this returns 0. */
int results_each(struct results *results, int (*fn)(void *ctx, const struct results_run *run), void *ctx,
                 struct err *err);

/* What results_check() has looked at. */
struct results_counts {
    int64_t runs, metrics, parts, platforms;
    int64_t foreign; /* runs that another release made */
    int64_t sweeps;  /* that have not ended: the file is incomplete */
};

/* Whether the file is what was written: every run, that none is missing, and SQLite's own structures. */
int results_check(struct results *results, struct results_counts *counts, struct err *err);

/* Adds the runs of n results files once, positions kept, in one transaction; other numbers for a run are an error. */
int results_merge(struct results *results, const char *const *from, size_t n, struct err *err);
/* The error of two files that have other numbers for the same case; -1. */
int results_differ(const char *a, const char *b, const char *policy, const char *engine, const char *input,
                   struct err *err);

/* Mark a sweep of `points` points as started, under an id of 32 hexadecimal digits (sweep_id()), or as ended. A file
 * with an unended sweep is incomplete. Each call is one transaction and may be repeated. */
int results_sweep_begin(struct results *results, const char *sweep, int64_t points, struct err *err);
int results_sweep_end(struct results *results, const char *sweep, struct err *err);
/* If one has not, add the sentence that says so to an array, which is made where there is none. */
int results_tell_unfinished(struct results *results, const char *path, json_t **sentences, struct err *err);
/* How many have not ended, -1 with *err set. */
int64_t results_unfinished(struct results *results, struct err *err);
/* Whether it has begun and not ended: 1, 0, or -1 with *err set. */
int results_sweeping(struct results *results, const char *sweep, struct err *err);

/* After the last put: bring the file to the one form that its runs have, whatever the order and the number of
 * transactions they came in. Nothing but that order is lost if it fails. */
void results_settle(struct results *results);

/* How many runs there are, -1 with *err set. */
int64_t results_count(struct results *results, struct err *err);

/* Whether the file at `path` says that it is a results file. */
bool results_is_results(const char *path);
