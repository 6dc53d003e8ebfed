/* accesses: every warp-level global access of a program as text, one a line, as recorded through compute-sanitizer.
 *
 *     #kernel NAME grid X,Y,Z block X,Y,Z accesses N
 *     PC MASK FLAGS BYTES BLOCK WARP ADDR...
 *
 * PC, active mask and addresses (one per active lane) are hexadecimal; FLAGS: bit 0 read, 1 write, 2 atomic (both 0 and
 * 1: atomic, too); BYTES per lane, BLOCK (linear) and WARP (in the block) are decimal. The lines of a kernel follow its
 * #kernel line, in order of arrival; a dimension of 0 was not recorded. They become ACCESS records
 * (trace/access/access.h), one launch per kernel. Left out and counted: lines that do not fit. A kernel with fewer
 * lines than announced makes the trace incomplete. Source: our recorder; measured: H200, driver 580.159.04, CUDA 13.0,
 * 2026-11. */
#ifndef TRACE_IMPORT_ACCESS_ACCESSES_H
#define TRACE_IMPORT_ACCESS_ACCESSES_H

#include "trace/import/reader.h"

extern const struct reader read_accesses;

#endif
