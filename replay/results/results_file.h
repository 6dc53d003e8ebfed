/* results_file: the inside of an open results file, for the parts of results only. */
#ifndef REPLAY_RESULTS_RESULTS_FILE_H
#define REPLAY_RESULTS_RESULTS_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/results/results.h"
#include "trace/base/err.h"
#include "trace/store/output.h"
#include "trace/store/schema.h"
#include "trace/store/sqlite.h"

/* seal: hashes that show whether rows of a database are what was written: 128 bits (XXH3) over typed values.
 *
 * seal_begin, seal_values for each row, seal_end. A sum of seals does not depend on the order, and a seal can be taken
 * out of it again. */

enum { SEAL_TEXT = 33 }; /* 32 hexadecimal digits and the end */

struct row_hash {
    uint64_t high, low;
};

struct row_hashing; /* in the making */

/* NULL with *err set if there is no memory. */
struct row_hashing *row_hash_begin(struct err *err);
/* The columns from `first` up to `end` of the row that stmt stands on: type, length and bytes of each. */
void row_hash_values(struct row_hashing *sealing, sqlite3_stmt *stmt, int first, int end);
/* Frees it. */
struct row_hash row_hash_end(struct row_hashing *sealing);

struct row_hash row_hash_text(const char *text);
/* A run of this content, by its key and position. */
struct row_hash row_hash_run(const struct row_hash *content, const char *key, int64_t position);

bool row_hash_equal(const struct row_hash *a, const struct row_hash *b);
void row_hash_add(struct row_hash *sum, const struct row_hash *seal);
void row_hash_subtract(struct row_hash *sum, const struct row_hash *seal);

const char *row_hash_format(const struct row_hash *seal, char text[SEAL_TEXT]); /* returns text */
/* -1 if text is NULL or not what row_hash_format() gives. */
int row_hash_parse(const char *text, struct row_hash *seal);

/* --- the open file --- */

enum results_statement {
    RESULTS_INSERT,
    RESULTS_FIND,
    RESULTS_INSERT_PLATFORM,
    RESULTS_INSERT_METRIC,
    RESULTS_INSERT_PART,
    RESULTS_SEAL,
    RESULTS_DELETE_RUN,
    RESULTS_DELETE_METRICS,
    RESULTS_DELETE_PARTS,
    RESULTS_DIGEST,
    RESULTS_SET_DIGEST,
    RESULTS_RUN,
    RESULTS_METRICS,
    RESULTS_PARTS,
    RESULTS_HAS,
    RESULTS_SWEEP_BEGIN,
    RESULTS_SWEEP_END,
    RESULTS_SWEEPING,
    RESULTS_STATEMENTS
};

struct results {
    char *path;
    sqlite3 *db;
    struct output file; /* being made, without its name yet; else empty */
    struct schema *schema;
    int version; /* of the file: 1 to 3 */
    bool writing;
    sqlite3_stmt *stmt[RESULTS_STATEMENTS];
    bool collided; /* the last failure was a run that is there with other numbers */
    /* Of the transaction that writes. */
    int64_t runs;
    struct row_hash digest;
    /* Of this object, for results_settle(). */
    int64_t transactions, added;
};

/* The columns of a run, as RESULTS_RUN and results_each() select them: what is sealed as content, then the rest. */
enum results_column {
    RESULTS_ENGINE,
    RESULTS_INPUT,
    RESULTS_INPUT_HASH,
    RESULTS_PLATFORM,
    RESULTS_POLICY,
    RESULTS_VERSION,
    RESULTS_SETTINGS, /* from here on JSON objects */
    RESULTS_PARAMS,
    RESULTS_METRICS_TEXT,
    RESULTS_INTERVALS,
    RESULTS_OVERRIDES,
    RESULTS_RELATIVE_TO,
    RESULTS_NOTES, /* from here on JSON arrays */
    RESULTS_INPUTS,
    RESULTS_PLATFORM_HASH,
    RESULTS_BASELINE,
    RESULTS_CONTENT, /* how many columns are content */
    RESULTS_KEY = RESULTS_CONTENT,
    RESULTS_POSITION,
    RESULTS_HASH,
    RESULTS_ID,
    RESULTS_NUMBERS
};

extern const char results_columns[]; /* of version 3; "platforms" is joined by results_joined */

/* *err says what SQLite says. Returns -1. */
int results_failed(struct results *results, struct err *err);

/* A statement, reset and without values. NULL with *err set. */
sqlite3_stmt *results_statement(struct results *results, enum results_statement which, struct err *err);

/* JSON text to a value of `type`, an empty one for NULL or "". NULL with *err set. */
json_t *results_parse(const char *text, json_type type, const char *what, struct err *err);

/* The digest as the file has it. */
int results_read_digest(struct results *results, int64_t *runs, struct row_hash *digest, struct err *err);

/* The hash of everything of a run but its key and its position, and that of its numbers alone: what came out, whatever
 * its input and its platform are called. row: on the columns above. */
int results_hash_content(struct results *results, sqlite3_stmt *row, struct row_hash *content, struct err *err);
int results_hash_numbers(struct results *results, sqlite3_stmt *row, struct row_hash *numbers, struct err *err);

/* The sweeps that have not ended in `from`, into *results too. */
int results_merge_sweeps(struct results *results, struct results *from, struct err *err);

#endif
