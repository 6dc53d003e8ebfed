/* sql: a trace or a results file as a connection for queries that can only read. */
#pragma once

#include "trace/base/err.h"
#include "trace/store/sqlite.h"

/* Open the file at `path`, which must be one of ours. The connection knows table `records` and, of a results file, view
 * `flat`: a row for each run, its policy with the parameters, the settings that differ between runs and what --set
 * gave, and a column for each metric. Every statement that could write, attach a file, load an extension or change a
 * setting is refused. NULL with *err set on failure; closed with sqlite3_close(). */
sqlite3 *sql_open(const char *path, struct err *err);

/* --- the records of a trace as an SQL table (vtab.c); man offchip-sql has its columns ---
 *
 * The table reads the chunks of the connection's main database; conditions on stream, record, time and kind keep it
 * from decoding chunks that cannot match. Read-only. */

/* Make table `records` known to a connection. Returns an SQLite result code. */
int vtab_register(sqlite3 *db);
