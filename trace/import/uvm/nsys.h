/* nsys: the SQLite export of NVIDIA Nsight Systems (nsys profile --export=sqlite, nsys export -t sqlite).
 *
 * Becomes stream "uvm" (ns since the session's start, byte addresses), in order of time, as reader cupti-csv makes it:
 * migrations (copies of kind 11, 12, 13), GPU and CPU faults, kernels, and further explicit copies and allocations.
 * The export's tables exist only where there was such an event, and their columns change between releases: both are
 * asked for, never assumed. Causes and kinds are taken by number, never by label (labels changed between releases).
 * Not in any export, so not recordable: thrashing, throttling, remote mappings, access type of CPU faults.
 * The file is opened read-only and as immutable, since exports often lie on file systems without locking.
 * Source: exporter schema 3.16.1 and later; CUPTI's enumerations (CUDA 13.0). */
#ifndef TRACE_IMPORT_UVM_NSYS_H
#define TRACE_IMPORT_UVM_NSYS_H

#include "trace/import/reader.h"

extern const struct reader read_nsys;

#endif
