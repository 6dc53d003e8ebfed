/* output: a file that is written whole or not at all: beside its place under the name PATH.part, which becomes PATH at
 * the end. A symbolic link is followed; a device or a pipe is written to directly.
 *
 *     struct output w;
 *     if (output_open(&w, path, err)) return -1;
 *     int rc = ... fprintf(w.file, ...) ...;
 *     return output_close(&w, rc, err);
 */
#ifndef TRACE_STORE_OUTPUT_H
#define TRACE_STORE_OUTPUT_H

#include <stdio.h>

#include "trace/base/err.h"

struct output {
    FILE *file;
    char *path; /* what it will be */
    char *part; /* what it is meanwhile; NULL: a device or a pipe */
};

/* -1 with *err set, naming the file, if it cannot be written. Whether it may replace one is for the caller to ask. */
int output_open(struct output *output, const char *path, struct err *err);

/* With rc 0, give the file its name; otherwise, and if anything could not be written, remove it. Returns rc, or -1 with
 * *err set. */
int output_close(struct output *output, int rc, struct err *err);

#endif
