/* Any bytes as recorded accesses: a trace or an error, never a crash. */
#include "trace/import/testing_fuzz.h"

FUZZ_READER(read_accesses)
