/* csv_names: how another tool's table says what ours does: its names of our columns, its words for our kinds, its unit
 * of time.
 *
 *     columns=[time=timestamp,addr=address,kind=op]   ours=theirs; columns that are not named are left out
 *     kinds=[R=DRAM_READ,W=DRAM_WRITE]                theirs=ours; or one kind, of all rows: kinds=DRAM_READ
 *     time_unit=us                                    of columns time and dur */
#ifndef TRACE_IMPORT_OWN_CSV_NAMES_H
#define TRACE_IMPORT_OWN_CSV_NAMES_H

#include "trace/base/err.h"
#include "trace/base/param_value.h"
#include "trace/event/record.h"
#include "trace/import/field.h"

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
