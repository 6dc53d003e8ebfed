/* Any bytes as format dramsys: a trace or an error, never a crash. */
#include "trace/import/testing_fuzz.h"

FUZZ_READER(read_dramsys)
