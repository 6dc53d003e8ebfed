/* store_file: a store while it is open, as the files of the store know it; nobody else includes this.
 *
 * store.c makes, opens, reads and closes; store_write.c appends; store_facts.c has the tables. */
#ifndef TRACE_STORE_STORE_FILE_H
#define TRACE_STORE_STORE_FILE_H

#include "trace/store/chunk.h"
#include "trace/store/directory.h"
#include "trace/store/schema.h"
#include "trace/store/store.h"

/* Tables a file must have to be readable at all: the first ones of the schema. */
enum { STORE_REQUIRED_TABLES = 5 };

/* One value of table origin; a list with the newest first. */
struct store_fact {
    struct store_fact *next;
    char *key, *value;
};

struct store {
    char *path; /* as given */
    sqlite3 *db;
    struct output file; /* being made, without its name yet; else empty */
    struct schema *schema;
    struct directory directory;
    struct store_fact *facts;
    bool writing, complete;
    struct chunk_builder *builders; /* one per stream */
    size_t builder_cap;
    bool in_transaction;
    unsigned rows;              /* in the transaction */
    int64_t transaction_ms;     /* when it began */
    bool broken;                /* a write failed: nothing more is written */
    sqlite3_stmt *insert_chunk; /* prepared at first need */
    sqlite3_stmt *insert[SCHEMA_TABLES];
    sqlite3_stmt *add_skipped, *add_dropped, *set_origin;
};

/* "'PATH': " and what SQLite says of the last failure; always -1. */
int store_sqlite_failed(struct store *store, const char *doing, struct err *err);

/* Begin a transaction unless one is open; commit it. A failure rolls it back and breaks the store. */
int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
/* Count a row written; commits now and then. */
int store_wrote_row(struct store *store, struct err *err);
/* A write failed: roll back, refuse all further writes; always -1 with *err as it is. */
int store_break(struct store *store);
/* -1 with *err set unless the store can be written to. */
int store_writable(const struct store *store, struct err *err);

/* Write what stream `stream` has collected as a chunk, and commit. */
int store_write_chunk(struct store *store, size_t stream, struct err *err);

/* Remember a value of table origin. */
int store_remember(struct store *store, const char *key, const char *value, struct err *err);
/* Write a value of table origin whatever its key. */
int store_put_origin(struct store *store, const char *key, const char *value, struct err *err);

void store_finalize_statements(struct store *store);

/* A copy of a text with what is not UTF-8 replaced by U+FFFD; freed with free(). */
char *store_utf8(const char *text, struct err *err);

#endif
