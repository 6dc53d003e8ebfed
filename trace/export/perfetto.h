/* perfetto: a stream in ns as Chrome trace JSON, which Perfetto and chrome://tracing show as a timeline.
 *
 * A process for each that was recorded. In it a line for each kind of record, for kernels one for each CUDA stream and
 * for the program's own ranges one for each thread, and further ones where things overlap (perfetto_tracks.h); at most
 * 64, what finds no place there is left out and counted. Records with a duration are slices, others instants; times in
 * microseconds from the first record, ns as fractions. Counter tracks have the bytes moved, the faults and the packets'
 * bytes of each thousandth of the time. Source: the Trace Event Format, "X", "i", "C" events and "M" names. */
#ifndef TRACE_EXPORT_PERFETTO_H
#define TRACE_EXPORT_PERFETTO_H

#include "trace/export/exporter.h"

extern const struct exporter export_perfetto;

#endif
