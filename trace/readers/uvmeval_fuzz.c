/* Any bytes as a log: no crash, no unbounded memory. */
#include <stdio.h>
#include <unistd.h>

#include "trace/readers/uvmeval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct err err;
    (void)snprintf(path, sizeof path, "/tmp/offchip-fuzz-uvmeval-%d.db", (int)getpid());
    struct source *source = source_from_memory(data, size, &err);
    struct store *store = source ? store_create(path, true, "fuzz", &err) : NULL;
    if (store) {
        struct reader_context context = {.store = store, .path = "fuzz"};
        (void)reader_run(&read_uvmeval, &context, source, &err);
    }
    store_close(store);
    if (source)
        source_close(source);
    (void)unlink(path);
    return 0;
}
