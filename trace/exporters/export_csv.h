/* export_csv: a stream as the plain form that trace/readers/csv.h describes; reading it back gives the same records. */
#ifndef TRACE_EXPORTERS_EXPORT_CSV_H
#define TRACE_EXPORTERS_EXPORT_CSV_H

#include "trace/exporter.h"

extern const struct exporter export_csv;

#endif
