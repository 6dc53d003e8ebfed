/* runs: results read back from results files or JSON of `replay`: what figures and reports work on. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "replay/results/run_case.h"

/* One policy on one input. The JSON objects are those of the documented output. */
struct run {
    struct run_case run_case; /* what was run: equal for all that can be compared */
    json_t *relative_to;      /* {"policy":..,"params":{..}}: what its speed-ups are relative to; {} where unknown */
    char key[RUN_CASE_HASH + 32]; /* of case, policy, parameters and relative_to */
    char *file;                   /* where it was read */
    char *engine, *input, *platform, *policy;
    json_t *settings; /* {} where unknown; with the numbers of the platform that were given by --set, as given */
    json_t *params, *metrics, *notes;
    json_t *interval; /* [lo, hi]; [lo, null]: more than lo; null: of an estimate */
    json_t *parts;    /* as `replay --format json` prints them; {} where there are none */
    char *part_by;    /* "kernel": this is a part of a run, or of several together; NULL: a whole run */
    char *part;       /* its name */
    bool baseline;    /* the speed-ups of its request are relative to this run */
};

struct run_set {
    struct run *runs;
    size_t count, cap;
    json_t *unfinished; /* of files of a sweep that has not ended, a sentence each; NULL: there are none */
};

/* Append every run of `path`, a results file or JSON, and run_set_unify(). *err names the file and its fault. */
int run_set_load(struct run_set *set, const char *path, struct err *err);
/* Append the runs of one JSON object as `replay --format json` prints it; `place` is for messages. */
int run_set_add_json(struct run_set *set, const json_t *root, const char *place, struct err *err);
void run_set_release(struct run_set *set);

/* Append a copy of a run, which may be one of the set's own. */
int run_set_add(struct run_set *set, const struct run *run, struct err *err);
/* Append copies of the runs of one engine. */
int run_set_add_engine(struct run_set *set, const struct run_set *from, const char *engine, struct err *err);

/* Say that a run, so far a whole one, is a part. */
int run_set_part(struct run *run, const char *by, const char *part, struct err *err);
/* Put the parts of each run in its place. Runs without such parts go, and are counted in *without. -1 with *err set,
 * which says what there is, if no run has any, or there is no memory. */
int run_set_split(struct run_set *set, const char *by, size_t *without, struct err *err);

/* Whether any run has a metric or its interval. */
bool run_set_has(const struct run_set *set, const char *metric);
/* Returns -1: *err says that none has, and which one may be meant. The set has a run. */
int run_set_lacks(const struct run_set *set, const char *metric, struct err *err);

/* A metric of a run as a real. Returns false if it is unknown; an interval alone counts as its middle. */
bool run_metric(const struct run *run, const char *name, double *value);
/* Whether a side of the run made no progress, as its engine says: it has no end, or no fairness. */
bool run_starved(const struct run *run);
/* Its interval, if it has one. */
bool run_interval(const struct run *run, const char *name, double *lo, double *hi);
/* Whether all that is known of it is that it is more than *lo. */
bool run_at_least(const struct run *run, const char *name, double *lo);
/* Whether its value is an estimate (outcome.h: unbound). */
bool run_unbound(const struct run *run, const char *name);

/* A note that begins so stands wherever the run's numbers do: in tables, CSV, JSON, pages and figures. The text behind
 * it, or NULL: the note is none such. */
#define RUN_WARNING   "warning: "
#define RUN_UNSETTLED "not settled: the winner by " /* and which metrics, " may not be the same .." */
static inline const char *run_warning(const char *note)
{
    const size_t n = sizeof RUN_WARNING - 1;
    return note && strncmp(note, RUN_WARNING, n) == 0 ? note + n : NULL;
}
/* Its warnings, joined by " | ", freed by the caller: "" where it has none; NULL: no memory. */
char *run_warnings(const struct run *run);

/* A parameter of the policy, a setting or a key of the input as text ("granularity", "oversubscription_pct", "bytes");
 * "input", "workload", "engine", "platform", "policy" name those, "mem" and "pim" the inputs of these roles, and of a
 * part what it is a part by ("kernel") its name. Returns buf, or NULL if the run has no such thing. */
const char *run_key(const struct run *run, const char *key, char *buf, size_t size);

/* note: sentences that reports and figures say beside what they show, as a JSON array of texts. */

/* Add a sentence; one that is there already is not added again. notes: NULL: nobody listens. -1: no memory. */
int note(json_t *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Say what limits the inputs of a run, or of all (trace/derived/limits.h), as their notes do. -1: no memory. */
int run_note_limits(const struct run *run, json_t *notes);
int run_set_note_limits(const struct run_set *set, json_t *notes);

/* Say which runs another release of offchip than this one made, and which release. -1: no memory. */
int run_set_note_foreign(const struct run_set *set, json_t *notes);

/* Of runs with one key the first stays. -1 with *err set, which names both files, policy and input, if two have other
 * metrics, intervals or parts; or for lack of memory. The set is whole after a failure. */
int run_set_unify(struct run_set *set, struct err *err);

/* Whether two JSON values are equal, numbers by value: 5 is 5.0, which is how SQLite may give it back. */
bool run_same_value(const json_t *a, const json_t *b);
