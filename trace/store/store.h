/* store: a trace in one SQLite file: append records in batches, keep facts as plain tables, read both back.
 *
 * Writing: store_create, store_stream_add, store_append..., facts, store_finish, store_close. The file is there from
 * store_finish() on, which marks it complete, or from store_keep(), which leaves it incomplete; closed without either
 * it is gone (output.h). With OUTPUT_IN_PLACE it is there from the beginning: every full chunk is committed in a
 * transaction of its own, so a killed writer leaves a file that opens as incomplete with every committed chunk.
 * Reading: store_open (read-only, many readers at once), store_stream, store_cursor_*.
 * One thread per store; several cursors on one store may be read in turn. The file format is docs/trace-format.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/err.h"
#include "trace/event/record.h"
#include "trace/store/output.h"

struct store;

enum { STORE_EXTRAS = 4, STORE_BATCH = 4096 };

/* A stream: records of one source with one time unit and one address space, in order. */
struct stream {
    char name[64]; /* "uvm", "tlp", "accesses", "requests" */
    enum time_unit unit;
    char clock[32];   /* name of the clock where unit is TIME_CYCLES: "core", "dram"; else "" */
    int64_t clock_hz; /* 0: unknown */
    enum addr_space space;
    char addr_layout[64];         /* of ADDR_DRAM_PACKED: "ch:5 bank:4 row:14 col:6" from the top; else "" */
    char extra[STORE_EXTRAS][32]; /* names of extra int64 columns, "" where unused; the used ones come first */
    /* Filled when read: */
    uint64_t records;
    int64_t time_first, time_last; /* smallest and largest time; 0 if no records */
    uint64_t kinds;                /* bit k: a record of kind k is in it */
};

/* Create a new trace. Facts known at once (tool version, command line, host, creation time) are written here. NULL with
 * *err set on failure. */
struct store *store_create(const char *path, enum output_place place, const char *command_line, struct err *err);

/* A new trace that is gone when it is closed: for work on a trace that nobody keeps. Written and read as the others
 * (cursors see what was appended). It is a temporary file of SQLite's, in TMPDIR or /var/tmp, without a name from the
 * moment that it is made, so that nothing is left however the program ends; or, where `name` is ":memory:", in memory.
 * `name` stands in messages and is its store_path(). */
struct store *store_create_temporary(const char *name, struct err *err);

/* Open a trace for reading. Anything else than our file, or a newer version, is an error that says so. */
struct store *store_open(const char *path, struct err *err);

/* Close; NULL is allowed. Of a writer in place uncommitted records are committed (the file stays incomplete unless
 * finished). */
void store_close(struct store *store);

/* Whether store_finish() was reached. */
bool store_complete(const struct store *store);

const char *store_path(const struct store *store);

/* 32 hexadecimal digits (XXH3 128) over content: streams and facts, not the origin's time of day. Read-only stores. */
int store_hash(struct store *store, char hash[33], struct err *err);

/* --- streams: writing --- */

/* Add a stream; *index gets its number, from 0. */
int store_stream_add(struct store *store, const struct stream *stream, int *index, struct err *err);

/* Append n records; extra points at n values for each extra column, column after column (extra[c * n + i]), or NULL.
 * Times need not be sorted: they are kept in the order given. None may be beyond RECORD_TIME_MAX. */
int store_append(struct store *store, int stream, const struct record *records, const int64_t *extra, size_t n,
                 struct err *err);

/* Write what is buffered, each stream's rest as a chunk of its own, and commit: for a recorder that waits. */
int store_flush(struct store *store, struct err *err);

/* Write what is buffered and mark the trace complete. Nothing can be added afterwards. */
int store_finish(struct store *store, struct err *err);

/* Write what is buffered, and let the trace be kept though it is not complete. Nothing can be added afterwards. */
int store_keep(struct store *store, struct err *err);

/* --- streams: reading --- */

int store_stream_count(const struct store *store);
const struct stream *store_stream(const struct store *store, int index); /* NULL out of range */
int store_stream_find(const struct store *store, const char *name);      /* -1: none */
int store_extra(const struct stream *stream, const char *name);          /* which extra column; -1: none */

struct store_cursor;

/* Read a stream from its start. NULL with *err set on failure. On a store being written the stream's buffered records
 * are written as a chunk first; records appended later are read too if the cursor has not reached its end. */
struct store_cursor *store_cursor_open(struct store *store, int stream, struct err *err);
void store_cursor_close(struct store_cursor *cursor);

/* The next batch, decoded: at most STORE_BATCH records, valid until the next call; of NULL -1, as it was opened. *extra
 * (if extra is not NULL) gets the extra columns as in store_append(). Returns 1, 0 at the end, -1 with *err set
 * (corrupt chunk: which one). */
int store_cursor_next(struct store_cursor *cursor, const struct record **records, const int64_t **extra, size_t *n,
                      struct err *err);

/* A stream's records one by one:
 *     struct store_walk w = {0};
 *     while (store_walk_next(&w, store, stream, err))
 *         w.failed = use(w.r, store_walk_extra(&w, 0), err);
 *     return store_walk_end(&w); */
struct store_walk {
    const struct record *r;
    bool failed;  /* set here or by the caller, with *err set: there is no next record */
    size_t at, n; /* in the batch */
    const int64_t *extra;
    struct store_cursor *cursor;
};

/* The next batch, all of it: walk->n records at r, with extra as in store_append(). */
bool store_walk_batch(struct store_walk *walk, struct store *store, int stream, struct err *err);
int store_walk_end(struct store_walk *walk); /* -1: it failed */

static inline bool store_walk_next(struct store_walk *walk, struct store *store, int stream, struct err *err)
{
    if (walk->failed || walk->at + 1 >= walk->n)
        return store_walk_batch(walk, store, stream, err);
    walk->at++;
    walk->r++;
    return true;
}

/* The record's value in an extra column; in none (-1) 0. */
static inline int64_t store_walk_extra(const struct store_walk *walk, int column)
{
    return column < 0 ? 0 : walk->extra[(size_t)column * walk->n + walk->at];
}

/* --- facts: plain tables, described in trace/store/schema.sql --- */

enum store_type { STORE_NULL, STORE_INT, STORE_REAL, STORE_TEXT };

struct store_value {
    enum store_type type;
    int64_t i;
    double r;
    const char *s; /* UTF-8, ended by zero; when reading valid until the callback returns */
};

#define STORE_V_NULL    ((struct store_value){STORE_NULL, 0, 0, NULL})
#define STORE_V_INT(v)  ((struct store_value){STORE_INT, (int64_t)(v), 0, NULL})
#define STORE_V_REAL(v) ((struct store_value){STORE_REAL, 0, (v), NULL})
#define STORE_V_TEXT(v) ((struct store_value){STORE_TEXT, 0, 0, (v)})

/* Insert one row into a table of the schema: as many values as the table has columns, in its order. The table name is
 * checked against the schema. */
int store_row(struct store *store, const char *table, const struct store_value *values, size_t n, struct err *err);

/* The same, with the row's values as the last arguments. */
#define STORE_ROW(store, table, err, ...)                                                                              \
    store_row(store, table, (const struct store_value[]){__VA_ARGS__},                                                 \
              sizeof((const struct store_value[]){__VA_ARGS__}) / sizeof(struct store_value), err)

/* Call fn for every row of a table, in rowid order, with all columns. fn returns 0 to go on; anything else stops and
 * is returned. -1 with *err set on failure. A table this file's version lacks has no rows. */
int store_rows(struct store *store, const char *table, int (*fn)(void *ctx, const struct store_value *values, size_t n),
               void *ctx, struct err *err);

int store_copy_table(struct store *from, struct store *to, const char *table, struct err *err);

/* Add the number of a table's rows to *count. -1 with *err set as store_rows(). */
int store_row_count(struct store *store, const char *table, int64_t *count, struct err *err);

/* One fact of table `origin`: key and text. Later values replace earlier ones. */
int store_origin(struct store *store, const char *key, const char *value, struct err *err);
/* Its value, or NULL. Valid until the store is closed. */
const char *store_origin_get(const struct store *store, const char *key);

/* Whether a key of origin differs between two makings of the same trace (when, where, by which command): no content. */
bool store_passing_fact(const char *key);

/* Add n to the count of skipped items for `reason` (table skipped); n to dropped records (table dropped). */
int store_skip(struct store *store, const char *reason, uint64_t n, struct err *err);
int store_drop(struct store *store, const char *reason, uint64_t n, struct err *err);

/* --- a writer: records on their way into one stream, handed over STORE_BATCH at a time ---
 *
 * writer_open, writer_add..., writer_flush (or writer_close, which loses what is not flushed). */

struct writer {
    struct store *store;
    int stream, extras;
    size_t n;
    struct record *records;
    int64_t *extra; /* column c of record i at extra[c * STORE_BATCH + i] until flushed */
    uint64_t total; /* ever added */
};

/* Zeroes *writer and gets its memory; the stream has `extras` extra columns. */
int writer_open(struct writer *writer, struct store *store, int stream, int extras, struct err *err);
void writer_close(struct writer *writer);

int writer_flush(struct writer *writer, struct err *err);

/* Add a record and its extra columns (NULL if there are none). */
static inline int writer_add(struct writer *b, const struct record *record, const int64_t *extra, struct err *err)
{
    size_t i = b->n++;
    b->records[i] = *record;
    for (int c = 0; extra && c < b->extras; c++)
        b->extra[(size_t)c * STORE_BATCH + i] = extra[c];
    b->total++;
    return b->n == STORE_BATCH ? writer_flush(b, err) : 0;
}

/* The stream of this name, or a new one of this time unit with these extra columns; -1 with *err set. */
int writer_stream(struct store *store, const char *name, enum time_unit unit, const char *const *extra, int extras,
                  struct err *err);
