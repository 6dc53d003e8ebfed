/* dramsim3: request traces of DRAMsim3 ("0xADDR READ|WRITE CYCLE") and DRAMSim2 (P_MEM_RD, P_MEM_WR, P_FETCH, IFETCH,
 * BOFF). The address is hexadecimal with or without 0x; the cycle is that of the memory controller's clock.
 *
 * Differs from DRAMsim3 on purpose: an unknown operation is an error with its line, not a read; a trailing newline
 * makes no extra request; nothing is cut off. */
#ifndef TRACE_IMPORT_DRAM_DRAMSIM3_H
#define TRACE_IMPORT_DRAM_DRAMSIM3_H

#include "trace/import/reader.h"

extern const struct reader read_dramsim3;

#endif
