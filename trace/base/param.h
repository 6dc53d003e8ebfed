/* param: a named setting with type, unit, range and default; tables of them describe policies, workloads, engine
 * settings and platform numbers alike, so that one parser checks them all and help, docs and results print them.
 *
 * A table is an array ended by a zeroed element; `offset` says where the value lives in the owner's struct. */
#ifndef TRACE_BASE_PARAM_H
#define TRACE_BASE_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

enum param_type {
    PARAM_INT,    /* int64_t; a plain whole number */
    PARAM_BYTES,  /* int64_t; accepts 64KiB */
    PARAM_NS,     /* int64_t nanoseconds; accepts 2us; with `text` "auto" that word too, stored as PARAM_AUTO */
    PARAM_CHOICE, /* int64_t; position in `unit`, a list "a|b|c"; printed by name */
    PARAM_REAL,   /* double */
    PARAM_TEXT,   /* const char *, NULL when not given; points into the text it was set from */
};

enum { PARAM_AUTO = -1 }; /* a number that is worked out, not given */

struct param {
    const char *name;
    enum param_type type;
    const char *unit; /* "%", "bytes", "cycles", "" or, for a choice, its names "a|b|c" */
    double lo, hi;    /* inclusive; not used by choices and text */
    double value;     /* default; a choice's position */
    size_t offset;    /* in the owner's struct */
    const char *help; /* one line, no full stop */
    const char *text; /* default of PARAM_TEXT; of PARAM_NS: "auto" if that may be said */
};

/* Rows of a table. S is the owner's struct, F the field. */
#define PARAM_ROW(S, F, type, unit, lo, hi, value, help, text)                                                         \
    {                                                                                                                  \
#F, type, unit, lo, hi, value, offsetof(struct S, F), help, text                                               \
    }
#define PARAM_INT_ROW(S, F, unit, lo, hi, value, help)  PARAM_ROW(S, F, PARAM_INT, unit, lo, hi, value, help, NULL)
#define PARAM_BYTES_ROW(S, F, lo, hi, value, help)      PARAM_ROW(S, F, PARAM_BYTES, "bytes", lo, hi, value, help, NULL)
#define PARAM_NS_AUTO_ROW(S, F, lo, hi, help)           PARAM_ROW(S, F, PARAM_NS, "ns", lo, hi, PARAM_AUTO, help, "auto")
#define PARAM_REAL_ROW(S, F, unit, lo, hi, value, help) PARAM_ROW(S, F, PARAM_REAL, unit, lo, hi, value, help, NULL)
#define PARAM_CHOICE_ROW(S, F, names, value, help)      PARAM_ROW(S, F, PARAM_CHOICE, names, 0, 0, value, help, NULL)
#define PARAM_TEXT_ROW(S, F, text, help)                PARAM_ROW(S, F, PARAM_TEXT, "text", 0, 0, 0, help, text)

/* The row called `name`, or NULL. table may be NULL. */
const struct param *param_find(const struct param *table, const char *name);

/* Store every default in *owner. */
void param_defaults(const struct param *table, void *owner);

/* Parse `text` for `name`, check the range, store it in *owner. Text values keep pointing at `text`. On failure *err
 * names the parameter, what was found and what was expected; the names of the table if `name` is unknown. */
int param_set(const struct param *table, void *owner, const char *name, const char *text, struct err *err);

/* The value of one row as param_set() would read it back: "64KiB", "blocked", "0.3". Returns buf. */
const char *param_format(const struct param *row, const void *owner, char *buf, size_t size);

int64_t param_int(const struct param *row, const void *owner);      /* INT, BYTES, NS, CHOICE */
double param_real(const struct param *row, const void *owner);      /* REAL */
const char *param_text(const struct param *row, const void *owner); /* TEXT; may be NULL */

/* Any number as one: a choice by its position. 0 for text. The second one stores it, rounded where it is whole. */
double param_number(const struct param *row, const void *owner);
void param_put_number(const struct param *row, void *owner, double value);

const char *param_choice(const struct param *row, int64_t position, char *buf, size_t size); /* the name, "?" if none */

/* Where a name stands in "a|b|c", from 0; -1: it does not. */
int param_position(const char *names, const char *text);

/* For people: the default as param_set() would read it ("" of a text that has none), and what is taken: "1..64",
 * "4KiB..1GiB", "a|b|c"; "" of texts. Return buf. */
const char *param_default(const struct param *row, char *buf, size_t size);
const char *param_range(const struct param *row, char *buf, size_t size);

/* A list "key=value,key=value" split in place into pairs (text is owned by the list). */
struct param_list {
    char *text;
    size_t count;
    struct param_pair {
        const char *key, *value; /* value is NULL where no '=' was given */
    } * pairs;
};

/* Split text at `,`; a comma inside [] belongs to the value, so lists can be passed as fan_outs=[10,25]. */
int param_list_init(struct param_list *list, const char *text, struct err *err);
void param_list_release(struct param_list *list);

/* Apply defaults, then every pair. */
int param_list_apply(const struct param_list *list, const struct param *table, void *owner, struct err *err);

#endif
