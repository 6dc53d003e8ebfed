/* record_copy: what a recording holds, into a new trace that takes its place. */
#ifndef CMD_RECORD_RECORD_COPY_H
#define CMD_RECORD_RECORD_COPY_H

#include "trace/store/store.h"

/* The rows of a plain table as they are. */
int record_copy_table(struct store *in, struct store *out, const char *table, struct err *err);
/* Origin (but for what the new trace says of itself), what was left out and what was lost, the driver's parameters. */
int record_copy_facts(struct store *in, struct store *out, struct err *err);
/* A stream, all of it; one that is not there is no error. */
int record_copy_stream(struct store *in, struct store *out, const char *name, struct err *err);

#endif
