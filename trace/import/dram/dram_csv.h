/* dram_csv: DRAM requests as CSV: id,arrival_cycle,kind,bank,row,col[,channel].
 *
 * kind: RD, WR (32 B), WR32, WR64, WR96, WR128 (L2 write-backs) or PIM. arrival_cycle is kept as cycles of a clock that
 * the file does not name (stored as "dram", 0 Hz): the engine takes it as cycles of the front end's clock. */
#ifndef TRACE_IMPORT_DRAM_DRAM_CSV_H
#define TRACE_IMPORT_DRAM_DRAM_CSV_H

#include "trace/import/reader.h"

extern const struct reader read_dram_csv;

#endif
