/* Any bytes as NDJSON of CUTracer: a trace or an error, never a crash. */
#include "trace/import/reader.h"

#include "trace/import/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzzing_read(&read_cutracer, "/nowhere/fuzz", NULL, data, n);
    return 0;
}
