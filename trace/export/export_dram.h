/* export_dram: a stream of DRAM requests as dram-csv, as a DRAMsim3 trace or as a Ramulator 2 trace.
 *
 * dram-csv keeps everything. DRAMsim3 gets "0xADDR READ|WRITE CYCLE". Ramulator gets address vectors ("R 0,0,1,2,77,5",
 * read/write trace) from packed addresses and "LD 0xADDR" (load/store trace) from byte addresses. Neither has a form
 * for PIM requests or requests served by L2, which are left out and counted; sizes and, for Ramulator, times are lost.
 */
#ifndef TRACE_EXPORT_EXPORT_DRAM_H
#define TRACE_EXPORT_EXPORT_DRAM_H

#include "trace/export/exporter.h"

extern const struct exporter export_dram_csv, export_dramsim3, export_ramulator;

#endif
