/* Any bytes as NDJSON of CUTracer: a trace or an error, never a crash. */
#include "trace/import/testing_fuzz.h"

FUZZ_READER(read_cutracer)
