/* csv: the marks of our plain text form of records, which trace/import/csv.c reads and trace/export/export_csv.c
 * writes. */
#ifndef TRACE_IMPORT_CSV_H
#define TRACE_IMPORT_CSV_H

#define CSV_HEAD   "# offchip csv 2"
#define CSV_SAMPLE "# sample"
#define CSV_END    "# records "

#endif
