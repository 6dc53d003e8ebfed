/* csv: our plain text form of records. The header row names the columns, in any order:
 *
 *     # offchip csv 2
 *     kind,time_ns,dur_ns,addr,bytes,flags,id,group,name
 *     COPY,10,5,0x7f0000000000,4096,0,0,0,
 *     # records 1
 *
 * A file whose first line says "# offchip csv 2" must end with the line that states its records; without, it is cut
 * off: what it holds is kept, and the trace is incomplete. Files without that first line need no such end.
 *
 * Lines "# sample TEXT", "# sample.from 0" .. behind the first say that it is a part of a recording
 * (trace/import/sample.h), and what part.
 *
 * kind      a name of record_kinds[] ("MIGRATE_H2D"); required
 * time_ns   or time_cycles; none: the stream has no time. dur_ns or dur_cycles goes with it
 * addr      byte address, decimal or 0x hexadecimal; bytes, flags, id, group: unsigned numbers, 0 where empty
 * name      of a KERNEL row, as csv_text.h writes texts: stored in table kernels, whose row the record's id then is
 * extra:X   a further signed 64-bit column X, at most four
 *
 * Lines may end in LF or CRLF; empty lines and lines that start with # are passed over; a field may stand in double
 * quotes ("" is one quote). A line that does not fit is an error with its number and column: nothing is guessed.
 * Left out and counted: kinds that are never stored (NONE, SKIPPED). `offchip export --format csv` writes this form.
 *
 * Another tool's table is read with option columns: its names of our columns, the words it has for kinds, its unit of
 * time (csv_names.h). Its other columns are left out; our own names do not count then.
 *
 * Options: stream (its name; by default from the first record's kind: uvm, tlp, accesses, touches, scans, requests),
 * clock and clock_hz (of time_cycles). */
#ifndef TRACE_IMPORT_OWN_CSV_H
#define TRACE_IMPORT_OWN_CSV_H

#include "trace/import/reader.h"

#define CSV_HEAD   "# offchip csv 2"
#define CSV_SAMPLE "# sample"
#define CSV_END    "# records "

/* The stream's default name for a first record of this kind. */
const char *csv_stream_name(enum record_kind kind);

#endif
