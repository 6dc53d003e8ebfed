/* Any bytes as format dram-csv: a trace or an error, never a crash. */
#include "trace/import/testing_fuzz.h"

FUZZ_READER(read_dram_csv)
