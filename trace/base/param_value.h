/* param_value: finding a row of a table of settings (trace/base/param.h), and reading and writing its value. What needs
 * no row's fields includes only this. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct err;
struct param;

enum { PARAM_AUTO = -1 }; /* a number that is worked out, not given */

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
