/* Any bytes as format dramsim3: a trace or an error, never a crash. */
#include "trace/import/testing_fuzz.h"

FUZZ_READER(read_dramsim3)
