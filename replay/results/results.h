/* results: runs in one SQLite file: what was run, what came out, and a key by which a finished run is recognised.
 *
 * results_open, results_put / results_has / results_each / results_merge, results_close. Every put is one transaction;
 * several processes may write to one file, each waits for the others. The file is described in
 * replay/results/results.sql and docs/trace-format.md. One thread per object. */
#ifndef REPLAY_RESULTS_RESULTS_H
#define REPLAY_RESULTS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

struct results;

enum results_mode {
    RESULTS_READ,   /* an existing file */
    RESULTS_CREATE, /* a new file; an existing one is an error */
    RESULTS_FORCE,  /* a new file in place of what is there */
    RESULTS_APPEND, /* an existing results file is added to, else a new one made; one of version 1 is only read */
};

/* One policy on one input. Texts are UTF-8; NULL counts as "" (JSON: as an empty object or array). */
struct results_run {
    const char *key; /* unique, at most 64 bytes; NULL: worked out by results_key() */
    int64_t
        position; /* order of reporting, from 0; negative: after all there are. A run put again keeps the
                   smaller one, so that the order does not depend on which of two points that share it ended first */
    const char *engine, *input, *input_hash, *platform, *policy;
    const char *inputs;              /* [{"role":..,"input":..,"hash":..},..]: all of them */
    const char *settings, *params;   /* JSON objects */
    const char *metrics, *intervals; /* JSON objects: a number or null; [lo, hi] */
    const char *notes;               /* a JSON array of texts */
    const char *parts;               /* {"kernel":[{"part":name,"metrics":{..},"interval":{..}},..],..} */
    bool baseline;                   /* speed-ups of its request are relative to this run */
    const char *version;             /* of offchip */
};

/* NULL with *err set on failure. */
struct results *results_open(const char *path, enum results_mode mode, struct err *err);
void results_close(struct results *results); /* NULL is allowed */

/* 32 hexadecimal digits (XXH3 128) over engine, input hash (input where that is empty), platform, settings, policy,
 * params and version; the order of keys in JSON does not matter. -1 with *err set if a JSON text is none. */
int results_key(const struct results_run *run, char key[33], struct err *err);

/* Add n runs in one transaction; a run with a key that is there takes its place. On failure none is added. */
int results_put(struct results *results, const struct results_run *runs, size_t n, struct err *err);

/* Whether a run with this key is there: 1, 0, or -1 with *err set. */
int results_has(struct results *results, const char *key, struct err *err);

/* Call fn for every run by (position, key). Texts are valid until fn returns, and are checked to be UTF-8 and JSON. fn
 * returns 0 to go on; anything else stops and is returned. -1 with *err set on failure. */
int results_each(struct results *results, int (*fn)(void *ctx, const struct results_run *run), void *ctx,
                 struct err *err);

/* Add every run of the results file `from`, positions kept, in one transaction. */
int results_merge(struct results *results, const char *from, struct err *err);

/* How many runs there are, -1 with *err set. */
int64_t results_count(struct results *results, struct err *err);

/* Whether the file at `path` starts like an SQLite database (results or trace) rather than a text. */
bool results_is_database(const char *path);

#endif
