/* row_hash: hashes that show whether rows of a database are what was written: 128 bits (XXH3) over typed values.
 *
 * row_hash_begin, row_hash_values for each row, row_hash_end. A sum of hashes does not depend on their order. */
#ifndef REPLAY_RESULTS_ROW_HASH_H
#define REPLAY_RESULTS_ROW_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/store/sqlite.h"

enum { ROW_HASH_TEXT = 33 }; /* 32 hexadecimal digits and the end */

struct row_hash {
    uint64_t high, low;
};

struct row_hashing; /* in the making */

/* NULL with *err set if there is no memory. */
struct row_hashing *row_hash_begin(struct err *err);
/* The columns from `first` up to `end` of the row that stmt stands on: type, length and bytes of each. */
void row_hash_values(struct row_hashing *hashing, sqlite3_stmt *stmt, int first, int end);
/* Frees it. */
struct row_hash row_hash_end(struct row_hashing *hashing);

struct row_hash row_hash_text(const char *text);
/* A run of this content, by its key and position. */
struct row_hash row_hash_run(const struct row_hash *content, const char *key, int64_t position);

bool row_hash_equal(const struct row_hash *a, const struct row_hash *b);
void row_hash_add(struct row_hash *sum, const struct row_hash *hash);
void row_hash_subtract(struct row_hash *sum, const struct row_hash *hash);

const char *row_hash_format(const struct row_hash *hash, char text[ROW_HASH_TEXT]); /* returns text */
/* -1 if text is NULL or not what row_hash_format() gives. */
int row_hash_parse(const char *text, struct row_hash *hash);

#endif
