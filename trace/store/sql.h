/* sql: a trace or a results file as a connection for queries that can only read. */
#ifndef TRACE_STORE_SQL_H
#define TRACE_STORE_SQL_H

#include "trace/base/err.h"
#include "trace/store/sqlite.h"

/* Open the file at `path`, which must be one of ours. The connection knows table `records` (trace/store/vtab.h). Every
 * statement that could write, attach a file, load an extension or change a setting is refused. NULL with *err set on
 * failure; closed with sqlite3_close(). */
sqlite3 *sql_open(const char *path, struct err *err);

#endif
