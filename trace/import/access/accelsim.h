/* accelsim: NVBit traces as Accel-Sim uses them: a kernelslist with its kernel traces, a folder that holds one (or one
 * for each context: kernelslist_ctx_*), or a single kernel's .trace or .traceg; each may be compressed. Tracer versions
 * 0 to 6, raw and grouped by thread block. Option kernel chooses kernels by id or name. Names with a slash are not
 * followed.
 *
 * Global accesses become ACCESS records of stream "accesses" (trace/access/access.h), one launch per kernel trace, in
 * the order of the files: kernel, block, warp, instruction. Copies to the device become COPY records and rows of table
 * allocations. There is no time. Left out and counted: shared, local, constant and texture accesses (local addresses in
 * these traces are the same for every thread, so nothing can be said of their lines), copies of other directions, list
 * lines of other kinds, instruction lines that cannot be read. Counted as dropped: thread blocks and kernel traces that
 * are missing or empty. origin accesses.outside_known_memory: lanes' addresses in none of the copies' memory. A trace
 * that ends inside a block, or a list whose files are missing, gives an incomplete trace. Source: accel-sim-framework
 * (trace-parser.cc, tracer_tool.cu, post-traces-processing.cpp), versions 3, 5 and 6. */
#ifndef TRACE_IMPORT_ACCESS_ACCELSIM_H
#define TRACE_IMPORT_ACCESS_ACCELSIM_H

#include "trace/import/reader.h"

extern const struct reader read_accelsim;

#endif
