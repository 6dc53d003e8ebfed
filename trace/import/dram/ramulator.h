/* ramulator: request traces of Ramulator 2 and 1, three dialects told apart by the first line:
 *   LD 0x12345680 | ST 4096              load/store trace: addresses
 *   R 0,0,1,2,77,5 | W ...               read/write trace: address vectors, in the order of option `levels`
 *   0x12345680 R | 0x12345680 W          Ramulator 1
 * No times. A line of another dialect than the first is an item left out, as are empty lines and comments, which
 * Ramulator 2 refuses. */
#ifndef TRACE_IMPORT_DRAM_RAMULATOR_H
#define TRACE_IMPORT_DRAM_RAMULATOR_H

#include "trace/import/reader.h"

extern const struct reader read_ramulator;

#endif
