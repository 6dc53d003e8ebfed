/* csv: the marks of our plain text form of records, which trace/import/csv.c reads and describes and
 * trace/export/export_csv.c writes. */
#pragma once

#include "trace/event/record.h"
#include "trace/store/store.h"

#define CSV_MARK   "# offchip csv "
#define CSV_HEAD   CSV_MARK "3"
#define CSV_STATE  "# state "
#define CSV_FACT   "# fact "
#define CSV_STREAM "# stream "
#define CSV_END    "# records "

/* Of files that are version 2. */
#define CSV_HEAD_2 CSV_MARK "2"

/* What such a table does not say of its stream: options of a reader of tables. */
struct csv_stream_options {
    const char *stream, *clock, *addr_layout;
    int64_t clock_hz;
};
#define CSV_STREAM_ROW(S, F, field, type, unit, hi, help)                                                              \
    {                                                                                                                  \
#field, type, unit, 0, hi, 0, offsetof(struct S, F) + offsetof(struct csv_stream_options, field), help, NULL   \
    }
#define CSV_STREAM_ROWS(S, F)                                                                                          \
    CSV_STREAM_ROW(S, F, stream, PARAM_TEXT, "text", 0, "name of the stream (default: from the first record's kind)"), \
        CSV_STREAM_ROW(S, F, clock, PARAM_TEXT, "text", 0, "name of the clock of times in cycles: core, dram"),        \
        CSV_STREAM_ROW(S, F, clock_hz, PARAM_INT, "Hz", 1e12, "frequency of that clock, 0 if unknown"),                \
        CSV_STREAM_ROW(S, F, addr_layout, PARAM_TEXT, "text", 0,                                                       \
                       "addresses are packed DRAM fields: 'ch:5 bank:4 row:14 col:6'")

/* The name of a stream, by its first record's kind where no option says it, its clock, its address space. */
void csv_stream_name(struct stream *s, const struct csv_stream_options *o, enum record_kind first);
