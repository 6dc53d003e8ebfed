/* dbfile: SQLite files of ours on the disk: made without ever destroying what was there before, opened without being
 * fooled by what somebody else put there. For traces and results alike. */
#ifndef TRACE_STORE_DBFILE_H
#define TRACE_STORE_DBFILE_H

#include <stdbool.h>

#include "trace/base/err.h"
#include "trace/store/sqlite.h"

/* How long to wait for another process that writes. */
enum { DBFILE_BUSY_MS = 60000 };

enum dbfile_mode { DBFILE_READ, DBFILE_WRITE };

/* Make a new database at `path` and open it for writing. It is made under another name, make(db) fills it, and only
 * then takes the place of what `path` is: nothing (else an error) or, with force, a file. */
int dbfile_create(const char *path, bool force, int (*make)(sqlite3 *db, void *ctx, struct err *err), void *ctx,
                  sqlite3 **db, struct err *err);

/* Open the database at `path`. A file that is no SQLite database, or a directory, a pipe, an empty file, is an error
 * that says so. What an interrupted writer left behind is rolled back first. */
int dbfile_open(const char *path, enum dbfile_mode mode, sqlite3 **db, struct err *err);

#endif
