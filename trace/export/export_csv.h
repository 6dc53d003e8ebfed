/* export_csv: a stream as the plain form that trace/import/own/csv.h describes; reading it back gives the same records.
 */
#ifndef TRACE_EXPORT_EXPORT_CSV_H
#define TRACE_EXPORT_EXPORT_CSV_H

#include "trace/export/exporter.h"

extern const struct exporter export_csv;

#endif
