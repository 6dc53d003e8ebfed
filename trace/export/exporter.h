/* exporter: a stream of a trace, or all of them, written in another tool's form.
 *
 * An exporter is one file in trace/export/ and one name in exporters[] (exporter.c). It reads the store
 * and writes text or bytes to a FILE; records its form cannot carry are counted by the exporter through
 * exporter_skip(). It declares which facts of a trace its form carries (trace/store/facts.h);
 * exporter_left_out() says of a trace what it had and lost. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/store/facts.h"

struct param; /* trace/base/param.h */

enum { EXPORTER_REASONS = 16 };

struct exporter_context {
    struct store *store;
    int stream;          /* index of the stream to write; -1: all (exporters that carry FACT_STREAMS) */
    const void *options; /* the exporter's options struct, checked; NULL: defaults */
    FILE *to;            /* write errors are found by the caller (ferror) */
    uint64_t written;    /* records written so far */
    struct {
        const char *reason; /* static text */
        uint64_t n;
    } skips[EXPORTER_REASONS];
    size_t skip_count;
};

struct exporter {
    const char *name;            /* as for --format */
    const char *summary;         /* one line */
    const struct param *options; /* NULL: none */
    size_t options_size;
    uint32_t carries; /* a set of enum fact */
    /* Write the whole stream. -1 with *err set if it cannot be written in this form. */
    int (*write)(const struct exporter *exporter, struct exporter_context *context, struct err *err);
};

extern const struct exporter export_csv, export_perfetto, export_dram_csv, export_dramsim3, export_ramulator;
extern const struct exporter *const exporters[]; /* ends with NULL */

const struct exporter *exporter_find(const char *name);

/* Count a record left out; reason must stay valid (a string constant). */
void exporter_skip(struct exporter_context *context, const char *reason);

/* What the trace has and the form does not carry, as facts_text() says it, in `text`; "": nothing. -1 with *err set. */
int exporter_left_out(const struct exporter *exporter, const struct exporter_context *context, char *text, size_t size,
                      struct err *err);
