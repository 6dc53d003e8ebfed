/* regular_file: opens a file that somebody named as an input, or says at once that it is none.
 *
 * A directory, a pipe, a device or a socket is an error: nothing here waits for a writer, and nothing reads without
 * end. Import's pipes are opened by trace/import/input_stream.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/err.h"

/* A descriptor that reads regular file `path` from its start, to be closed by the caller; -1 with *err set. */
int regular_file_open(const char *path, struct err *err);

/* The bytes of regular file `path`, *bytes of them and a zero byte behind, freed with free(). A file of more than
 * `limit` bytes and one that cannot be read to its end are errors: NULL with *err set. */
char *regular_file_read(const char *path, size_t limit, size_t *bytes, struct err *err);

/* The first line of regular file `path` that holds `word`, in upper or lower case, without its end; false: there is
 * none, or the file cannot be read. */
bool regular_file_line(const char *path, const char *word, char *line, size_t size);
