/* outcome: what one run of one policy gave; named metrics, intervals and notes.
 *
 * A metric has one definition and one aggregate, declared in its engine's table. A value that the source cannot give
 * stays unknown (null in JSON, n/a in tables), never 0. An interval may stand beside a value, or alone.
 *
 * A run may come in parts: the same metrics by kernel and by allocation, as far as they mean something there. Parts of
 * a sum add up to the run's value; what lies in several parts at once, or in none, has a part of its own. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

enum metric_type { METRIC_INT, METRIC_REAL };

/* How `report` combines a metric over runs. */
enum metric_aggregate { METRIC_SUM, METRIC_MIN, METRIC_MAX, METRIC_MEAN, METRIC_GEOMEAN };

struct metric {
    const char *name; /* ends in its unit: _ns _bytes _ratio _cycles; counts have none */
    enum metric_type type;
    enum metric_aggregate aggregate;
    const char *help; /* the definition, one line */
};

/* What an engine's list of metrics, a macro of rows ROW(name, type, aggregate, help, value), makes its table of. */
#define METRIC_ROW(name, type, aggregate, help, value) {#name, METRIC_##type, METRIC_##aggregate, help},

extern const char *const metric_aggregate_names[]; /* "sum", .., "geomean" */

/* What the end of a metric's name says: "ns", "bytes", "bytes/s", "cycles", ..; "" of counts and ratios. */
const char *metric_unit(const char *name);

/* What a table for people calls it: where the value brings its own unit ("24.3 ms", "12.3 GB/s") the name without that,
 * "time" for "time_ns", "link_per_s" for "link_bytes_per_s"; else its name, "total_cycles". Returns buf. */
const char *metric_label(const char *name, char *buf, size_t size);

struct metric_value {
    bool known;
    bool interval;    /* lo..hi hold */
    bool lower_bound; /* of an unknown value without an interval: it is more than lo */
    bool unbound;     /* of a known value: it is an estimate, and how far it is off is not known; a note says why */
    int64_t whole;    /* METRIC_INT */
    double real;      /* METRIC_REAL; also set for METRIC_INT */
    double lo, hi;
};

/* A count for people, or a number from 1,000 on, without what stands behind the point: "1,234,567". Returns buf. */
const char *metric_count(double value, char *buf, size_t size);

/* A metric for people, under metric_label(): "38.9 ms", "1.42", "256 MiB", "1,234,567", "242 .. 331 us", "n/a"; "~1.42"
 * of an estimate. Returns buf. */
const char *metric_text(const struct metric *metric, const struct metric_value *value, char *buf, size_t size);

/* What a run can be divided by. */
enum outcome_by { OUTCOME_BY_KERNEL, OUTCOME_BY_ALLOCATION, OUTCOME_BYS };

extern const char *const outcome_by_names[OUTCOME_BYS]; /* "kernel", "allocation" */

struct outcome {
    const struct metric *metrics; /* the engine's table, ends with a zeroed row */
    struct metric_value *values;  /* one per row */
    size_t count;
    char **notes; /* whole sentences */
    size_t note_count, note_cap;
    struct outcome_parts {
        struct outcome_part *items;
        size_t count, cap;
    } parts[OUTCOME_BYS];
    struct err failed;       /* why something of it is missing; "": nothing is */
    double outside_bytes[2]; /* of h2d_bytes and d2h_bytes, what may have moved outside of time_ns */
    bool slower;             /* it chooses, and its choice is slower than the baseline: a note says where */
    double speedup_most;     /* no speedup_ratio beyond this is possible; 0: nothing is known */
};

/* A part has the metrics of its run, but no notes and no parts. */
struct outcome_part {
    char *name;
    struct outcome outcome;
};

int outcome_init(struct outcome *outcome, const struct metric *metrics, struct err *err);
void outcome_release(struct outcome *outcome);

/* Store a value. `name` must be in the table with that type (asserted). A NaN or infinite real is stored as unknown. */
void outcome_int(struct outcome *outcome, const char *name, int64_t value);
void outcome_real(struct outcome *outcome, const char *name, double value);
/* The same by the type in the table; of METRIC_INT the nearest. One that is not finite stays unknown. */
void outcome_set(struct outcome *outcome, const char *name, double value);
/* Store an interval beside the value, or alone. */
void outcome_interval(struct outcome *outcome, const char *name, double lo, double hi);
/* Store that the value, which stays unknown, is proved to be more than `lo`; tables print it behind '>'. */
void outcome_at_least(struct outcome *outcome, const char *name, double lo);
/* Say that a value is an estimate; tables print it behind '~'. */
void outcome_unbound(struct outcome *outcome, const char *name);
/* Add a sentence; the same sentence twice is kept once. A failure to get memory makes outcome_check() fail. */
void outcome_note(struct outcome *outcome, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Each text of a JSON array; NULL: none. */
void outcome_note_all(struct outcome *outcome, const json_t *notes);
/* What `kind` finds in them (limits_note(), run_warning()), a new array; NULL: no memory. */
json_t *outcome_notes_of(const struct outcome *outcome, const char *(*kind)(const char *note));
bool outcome_has_note(const struct outcome *outcome, const char *note);

/* Say that something of it could not be had: outcome_check() fails with the first reason. */
void outcome_fail(struct outcome *outcome, const struct err *why);
/* 0, or -1 with *err set: something of it, such as a note, is missing. Asked before it is shown or kept. */
int outcome_check(const struct outcome *outcome, struct err *err);

/* The value of `name`, or NULL if the table has no such metric. */
const struct metric_value *outcome_get(const struct outcome *outcome, const char *name);

/* Add a part, whose metrics are set as a run's. Valid until the next one is added. NULL with *err set on failure. */
struct outcome *outcome_add_part(struct outcome *outcome, enum outcome_by by, const char *name, struct err *err);

/* The first part of that name, or NULL. */
struct outcome *outcome_find_part(const struct outcome *outcome, enum outcome_by by, const char *name);

/* {"metrics":{..},"interval":{..},"notes":[..]} added to *object; integers exact, unknown values null; an interval of
 * what is at least so much has null above; the names of estimates as "unbound":[..]. Where there are
 * parts, also "parts":{"kernel":[{"part":name,"metrics":{..},"interval":{..}},..],"allocation":[..]} with the metrics
 * that are known. -1 with *err set: *object is NULL then. */
int outcome_to_json(const struct outcome *outcome, json_t **object, struct err *err);
