/* exporter: a stream of a trace written in another tool's form.
 *
 * An exporter is one file in trace/export/ and one name in exporters[] (exporter.c). It reads the store
 * and writes text to a FILE. */
#ifndef TRACE_EXPORT_EXPORTER_H
#define TRACE_EXPORT_EXPORTER_H

#include <stdint.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/store/store.h"

struct exporter_context {
    struct store *store;
    int stream;        /* index of the stream to write */
    FILE *to;          /* write errors are found by the caller (ferror) */
    uint64_t written;  /* records written so far */
    uint64_t left_out; /* records that the form cannot carry */
    const char *why;   /* of these; static text */
};

struct exporter {
    const char *name;    /* as for --format */
    const char *summary; /* one line */
    /* Write the whole stream. -1 with *err set if it cannot be written in this form. */
    int (*write)(struct exporter_context *context, struct err *err);
};

extern const struct exporter export_csv, export_perfetto;
extern const struct exporter *const exporters[]; /* ends with NULL */

const struct exporter *exporter_find(const char *name);

#endif
