/* param: a named setting with type, unit, range and default; tables of them describe policies, workloads, engine
 * settings and platform numbers alike, so that one parser checks them all and help, docs and results print them.
 *
 * A table is an array ended by a zeroed element; `offset` says where the value lives in the owner's struct. */
#pragma once

#include <stddef.h>

#include "trace/base/param_value.h"

enum param_type {
    PARAM_INT,    /* int64_t; a plain whole number */
    PARAM_BYTES,  /* int64_t; accepts 64KiB */
    PARAM_NS,     /* int64_t nanoseconds; accepts 2us; with `text` "auto" that word too, stored as PARAM_AUTO */
    PARAM_CHOICE, /* int64_t; position in `unit`, a list "a|b|c"; printed by name */
    PARAM_REAL,   /* double */
    PARAM_TEXT,   /* const char *, NULL when not given; points into the text it was set from */
};

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
