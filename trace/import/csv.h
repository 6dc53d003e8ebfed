/* csv: the marks of our plain text form of records, which trace/import/csv.c reads and describes and
 * trace/export/export_csv.c writes. */
#ifndef TRACE_IMPORT_CSV_H
#define TRACE_IMPORT_CSV_H

#define CSV_MARK   "# offchip csv "
#define CSV_HEAD   CSV_MARK "3"
#define CSV_STATE  "# state "
#define CSV_FACT   "# fact "
#define CSV_STREAM "# stream "
#define CSV_END    "# records "

/* Of files that are version 2. */
#define CSV_HEAD_2 CSV_MARK "2"
#define CSV_SAMPLE "# sample"

#endif
