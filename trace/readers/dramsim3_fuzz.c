/* Any bytes as the dramsim3 reader's input: an error or a trace, never a crash. */
#include "trace/readers/dramsim3.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/offchip-fuzz-dramsim3-%d.offchip", (int)getpid());
    struct store *store = store_create(path, true, "fuzz", NULL);
    struct source *source = source_from_memory(data, size, NULL);
    (void)read_dramsim3.probe("fuzz", data, size < READER_PROBE_BYTES ? size : READER_PROBE_BYTES);
    struct reader_context context = {.store = store, .path = "fuzz"};
    if (store && source)
        (void)read_dramsim3.read(&context, source, NULL);
    source_close(source);
    store_close(store);
    (void)unlink(path);
    return 0;
}
