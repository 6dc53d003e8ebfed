/* export_npz: a stream as NumPy's archive: an array for each column, NAME.npy of form 1.0, deflated.
 *
 * kind (uint8: its name is kinds[kind]), time_ns or time_cycles and dur_ns or dur_cycles (int64; none where the stream
 * has no time), addr, bytes, id (uint64), flags, group (uint32), extra_X (int64) for each further column; kernel_id
 * and kernel_name where the trace has kernels; sample, one text, where it is one (trace/import/sample.h). Texts are
 * bytes of UTF-8 (dtype S), at most 8,192. Columns are written one after the other, each from the store: memory does
 * not grow with the trace. Source: NEP 1, numpy/lib/format.py, version 1.0. */
#ifndef TRACE_EXPORT_EXPORT_NPZ_H
#define TRACE_EXPORT_EXPORT_NPZ_H

#include "trace/export/exporter.h"

extern const struct exporter export_npz;

#endif
