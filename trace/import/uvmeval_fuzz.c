/* Any bytes as a driver log: a trace or an error, never a crash. */
#include "trace/import/testing_fuzz.h"

FUZZ_READER(read_uvmeval)
