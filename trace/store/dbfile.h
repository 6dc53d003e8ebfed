/* dbfile: SQLite files of ours on the disk: made as outputs are (output.h), opened without being fooled by what
 * somebody else put there. For traces and results alike. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/store/output.h"
#include "trace/store/sqlite.h"

/* How long to wait for another process that writes. */
enum { DBFILE_BUSY_MS = 60000 };

enum dbfile_mode { DBFILE_READ, DBFILE_WRITE };

/* Make a new database that will be at `path`, filled by make(db), and open it for writing. OUTPUT_IN_PLACE: it is at
 * `path` from here on, and *file is empty. Otherwise *db is the file's temporary, without a journal beside it, to be
 * closed with dbfile_close(). On failure there is nothing to close. */
int dbfile_create(struct output *file, const char *path, enum output_place place,
                  int (*make)(sqlite3 *db, void *ctx, struct err *err), void *ctx, sqlite3 **db, struct err *err);

/* output_close(), with nothing left to write to the database. Journals of what the file replaces go with that; one of a
 * file that is gone is an error without OUTPUT_REPLACE: it would be rolled back into the new file. */
int dbfile_close(struct output *file, int rc, struct err *err);

/* Remove the database at `path`, which nobody else may have open, with its journals. */
void dbfile_remove(const char *path);

/* Let the closed database at `made` take the place of what is at `path`, in the same folder, and its permissions. */
int dbfile_replace(const char *made, const char *path, struct err *err);

/* Open the database at `path`. A file that is no SQLite database, or a directory, a pipe, an empty file, is an error
 * that says so. What an interrupted writer left behind is rolled back first. */
int dbfile_open(const char *path, enum dbfile_mode mode, sqlite3 **db, struct err *err);

/* Let SQLite open files without a name as /proc/self/fd/N. false: this SQLite cannot. */
bool dbfile_follow(void);

/* Whether `path` is a file that begins as an SQLite database does, a trace or a results file rather than a text. */
bool dbfile_is_database(const char *path);

/* The application_id of such a file, which says whose it is; 0 if `path` is none. */
uint32_t dbfile_application_id(const char *path);
