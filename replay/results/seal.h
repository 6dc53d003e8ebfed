/* seal: hashes that show whether rows of a database are what was written: 128 bits (XXH3) over typed values.
 *
 * seal_begin, seal_values for each row, seal_end. A sum of seals does not depend on the order, and a seal can be taken
 * out of it again. */
#ifndef REPLAY_RESULTS_SEAL_H
#define REPLAY_RESULTS_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/store/sqlite.h"

enum { SEAL_TEXT = 33 }; /* 32 hexadecimal digits and the end */

struct seal {
    uint64_t high, low;
};

struct sealing; /* in the making */

/* NULL with *err set if there is no memory. */
struct sealing *seal_begin(struct err *err);
/* The columns from `first` up to `end` of the row that stmt stands on: type, length and bytes of each. */
void seal_values(struct sealing *sealing, sqlite3_stmt *stmt, int first, int end);
/* Frees it. */
struct seal seal_end(struct sealing *sealing);

struct seal seal_text(const char *text);
/* A run of this content, by its key and position. */
struct seal seal_run(const struct seal *content, const char *key, int64_t position);

bool seal_equal(const struct seal *a, const struct seal *b);
void seal_add(struct seal *sum, const struct seal *seal);
void seal_subtract(struct seal *sum, const struct seal *seal);

const char *seal_format(const struct seal *seal, char text[SEAL_TEXT]); /* returns text */
/* -1 if text is NULL or not what seal_format() gives. */
int seal_parse(const char *text, struct seal *seal);

#endif
