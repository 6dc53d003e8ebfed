/* cupti_csv: the raw rows of CUPTI's unified-memory counters as text, one activity record a line, and kernels.
 *
 *     counterKind,start_ns,end_ns,address(hex),value,srcId,dstId,streamId,processId,flags
 *     K,start_ns,end_ns,kernel name
 *
 * Stored as stream "uvm" (ns, byte addresses; extra columns process_id, src_id, dst_id). The kinds become
 *     1 MIGRATE_H2D  2 MIGRATE_D2H  8 MIGRATE_D2D   bytes = value, flags = migration cause
 *     3 CPU_FAULT    id = value (a program counter), flags = access; it has no end
 *     4 FAULT        bytes = value (fault groups of that page), flags = access; one record is one batch
 *     5 THRASH       6 THROTTLE       7 REMOTE_MAP  flags = cause
 *     K KERNEL       and a row of table kernels
 * streamId is not kept: CUPTI documents it as invalid for these records.
 *
 * A line that is no such row is an error with its number. Left out and counted: unknown counter kinds, migrations of
 * 0 bytes, rows that end before they start, rows without a start time.
 * Source: CUpti_ActivityUnifiedMemoryCounter2/3 (CUPTI 12, 13); measured: H200, driver 580.159.04, 2026-11. */
#ifndef TRACE_IMPORT_UVM_CUPTI_CSV_H
#define TRACE_IMPORT_UVM_CUPTI_CSV_H

#include "trace/import/reader.h"

extern const struct reader read_cupti_csv;

#endif
