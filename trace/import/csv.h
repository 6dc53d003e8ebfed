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
 * time. Its other columns are left out; our own names do not count then.
 *
 * Options: stream (its name; by default from the first record's kind: uvm, tlp, accesses, touches, scans, requests),
 * clock and clock_hz (of time_cycles). */
#ifndef TRACE_IMPORT_CSV_H
#define TRACE_IMPORT_CSV_H

#include "trace/base/err.h"
#include "trace/base/param.h"
#include "trace/event/record.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"

#define CSV_HEAD   "# offchip csv 2"
#define CSV_SAMPLE "# sample"
#define CSV_END    "# records "

/* The stream's default name for a first record of this kind. */
const char *csv_stream_name(enum record_kind kind);

/* --- how another tool's table says what ours does: its names of our columns, its words for our kinds, its unit
 * of time ---
 *
 *     columns=[time=timestamp,addr=address,kind=op]   ours=theirs; columns that are not named are left out
 *     kinds=[R=DRAM_READ,W=DRAM_WRITE]                theirs=ours; or one kind, of all rows: kinds=DRAM_READ
 *     time_unit=us                                    of columns time and dur */

/* As the choice of option time_unit. */
enum csv_unit { CSV_NS, CSV_US, CSV_MS, CSV_S, CSV_CYCLES };
#define CSV_UNITS "ns|us|ms|s|cycles"

enum { CSV_PAIRS = 32 };

struct csv_names {
    struct param_list columns, kinds;
    enum record_kind only; /* of all rows; RECORD_NONE: rows say */
    bool met[CSV_PAIRS];   /* columns that the header has */
};

/* Both texts may be NULL. -1 with *err set for what makes no sense. Release it in any case. */
int csv_names_init(struct csv_names *names, const char *columns, const char *kinds, struct err *err);
void csv_names_release(struct csv_names *names);

/* Our name of a column of theirs; NULL: it was not named. It counts as met. */
const char *csv_names_column(struct csv_names *names, const struct field *theirs);
/* Their name of the first column that was named and not met; NULL: all were. */
const char *csv_names_missing(const struct csv_names *names);
/* RECORD_NONE: no such word. */
enum record_kind csv_names_kind(const struct csv_names *names, const struct field *theirs);

/* A time in a unit, in ns (cycles: as it is): a number with an optional sign; of us, ms and s with decimals, rounded to
 * the nearest ns. False: it is none, or beyond 2^62. */
bool csv_names_time(const struct field *field, enum csv_unit unit, int64_t *time);

#endif
