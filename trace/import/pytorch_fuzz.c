/* Any bytes as a trace of PyTorch: a trace or an error, never a crash. */
#include "trace/import/testing_fuzz.h"

FUZZ_READER(read_pytorch)
