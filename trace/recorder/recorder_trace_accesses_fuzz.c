/* Any messages about accesses, whose types alone are made possible ones: a trace or an error, never a crash. */
#include "trace/recorder/recorder_trace.c"

#include <string.h>

#include "trace/import/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct accesses accesses = {0};
    struct record_pipe_message m;
    struct err err;
    struct store *store = fuzzing_store();
    int rc = accesses_open(&accesses, store, &err);
    for (size_t at = 0; rc == 0 && at + sizeof m <= n; at += sizeof m) {
        memcpy(&m, data + at, sizeof m);
        m.type = RECORD_PIPE_LAUNCH + m.type % (RECORD_PIPE_LAUNCH_END - RECORD_PIPE_LAUNCH + 1);
        rc = accesses_take(&accesses, &m, "kernel", &err);
    }
    /* What came before a message that makes no sense is a trace. */
    if (accesses_finish(&accesses, &err) || store_finish(store, &err))
        abort();
    fuzzing_read_back(store);
    access_close(&accesses.sink);
    return 0;
}
