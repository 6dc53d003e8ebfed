/* perfetto_names: what a record is called on a timeline: the kernel's own name, the packet's type and size, the cause
 * of a migration. */
#ifndef TRACE_EXPORT_PERFETTO_NAMES_H
#define TRACE_EXPORT_PERFETTO_NAMES_H

#include "trace/store/store.h"

struct perfetto_names;

/* The names in a trace's tables. NULL with *err set. */
struct perfetto_names *perfetto_names_new(struct store *store, struct err *err);
void perfetto_names_free(struct perfetto_names *names);

/* A JSON string with its quotes, in ASCII; valid until the next call. */
const char *perfetto_name(struct perfetto_names *names, const struct record *record);

/* The CUDA stream that a KERNEL record ran in; -1: not known. */
int64_t perfetto_cuda_stream(const struct perfetto_names *names, const struct record *record);

#endif
