/* Any bytes as an Accel-Sim list or kernel trace: a trace or an error, never a crash. */
#include "trace/import/testing_fuzz.h"

FUZZ_READER(read_accelsim)
