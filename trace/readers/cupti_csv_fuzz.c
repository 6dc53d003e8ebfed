/* Any bytes as format cupti-csv: records in a trace, or an error; the trace opens again. */
#include "trace/readers/cupti_csv.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err;
    char path[64];
    /* In memory where that can be: a run should not wait for a disk. */
    const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(path, sizeof path, "%s/offchip-fuzz-cupti_csv-%d.db", dir, (int)getpid());
    (void)unlink(path);
    (void)read_cupti_csv.probe(path, data, n < READER_PROBE_BYTES ? n : READER_PROBE_BYTES);
    struct source *source = source_from_memory(data, n, &err);
    struct reader_context context = {.path = "fuzz", .store = store_create(path, true, "fuzz", &err)};
    if (source && context.store)
        (void)reader_run(&read_cupti_csv, &context, source, &err);
    source_close(source);
    store_close(context.store);
    (void)unlink(path);
    return 0;
}
