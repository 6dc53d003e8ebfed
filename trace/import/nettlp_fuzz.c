/* Any bytes as a capture, and as raw packets at an offset: a trace or an error, never a crash. */
#include "trace/import/nettlp.c"

#include "trace/import/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct nettlp_options options = {.tlp_offset = n && data[n - 1] % 2 ? data[n - 1] % 32 : -1};
    fuzzing_read(&read_nettlp, "/nowhere/fuzz", &options, data, n);
    return 0;
}
