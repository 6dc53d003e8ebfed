/* schema: the tables a database of ours must have: read from the schema that the program carries, made in a new file,
 * checked in a file that somebody hands us. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/store/sqlite.h"

enum { SCHEMA_COLUMNS = 24, SCHEMA_TABLES = 40 };

/* What a column may hold. */
enum schema_type { SCHEMA_INTEGER, SCHEMA_REAL, SCHEMA_TEXT, SCHEMA_BLOB };

struct schema_table {
    char name[40];
    int columns;
    struct schema_column {
        char name[40];
        enum schema_type type;
        bool required; /* never NULL */
    } column[SCHEMA_COLUMNS];
    uint64_t declared; /* a hash of its declaration */
    bool present;      /* in the file that was checked */
};

struct schema {
    const char *sql; /* the whole text */
    int32_t application_id;
    int version;
    const char *what;  /* "an offchip trace", for messages */
    bool exact;        /* only files of this version, with every table there, declared letter for letter */
    int found_version; /* of the file that was checked */
    int count;
    struct schema_table table[SCHEMA_TABLES];
};

/* "OFCT" and "OFCR": the application_id of traces and of results files, and the versions we write. */
enum {
    SCHEMA_TRACE_ID = 0x4F464354,
    SCHEMA_TRACE_VERSION = 1,
    SCHEMA_RESULTS_ID = 0x4F464352,
    SCHEMA_RESULTS_VERSION = 3
};

/* The two schemas of ours. NULL with *err set on failure; freed with free(). */
struct schema *schema_trace(struct err *err);
struct schema *schema_results(struct err *err);

/* The table called `name`, or NULL. */
struct schema_table *schema_find(struct schema *schema, const char *name);

/* Make the tables and set application_id and user_version, in a new and empty database. */
int schema_create(const struct schema *schema, sqlite3 *db, struct err *err);

/* Whether db is a database of this schema: the application's number, a version we know, every table of ours a table
 * (not a view) with our columns. Notes which tables are present; the first `required` must be. Tables of an older
 * version may lack our last columns. */
int schema_check(struct schema *schema, sqlite3 *db, int required, struct err *err);

/* Settings for a database that may be hostile: bounded lengths, no functions from its schema, no writing to it. */
void schema_distrust(sqlite3 *db);
