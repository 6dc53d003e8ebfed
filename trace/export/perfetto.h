/* perfetto: a stream in ns as Chrome trace JSON, which Perfetto and chrome://tracing show as a timeline.
 *
 * One row (thread) per kind of record; records with a duration are bars, others instants; times in microseconds from
 * the first record, with ns kept as fractions. Source: the Trace Event Format, "X" and "i" events and "M" names. */
#ifndef TRACE_EXPORT_PERFETTO_H
#define TRACE_EXPORT_PERFETTO_H

#include "trace/export/exporter.h"

extern const struct exporter export_perfetto;

#endif
