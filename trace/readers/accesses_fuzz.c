/* Any bytes: an import, or an error; never a crash. */
#include "trace/readers/accesses.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err;
    char path[64];
    (void)snprintf(path, sizeof path, "/dev/shm/offchip-accesses-fuzz-%d.db", (int)getpid());
    struct store *store = store_create(path, true, "fuzz", &err);
    struct source *source = store ? source_from_memory(data, n, &err) : NULL;
    if (source) {
        struct reader_context context = {.store = store, .path = "/nowhere/fuzz"};
        (void)read_accesses.probe("/nowhere/fuzz", data, n < READER_PROBE_BYTES ? n : READER_PROBE_BYTES);
        if (reader_run(&read_accesses, &context, source, &err) == 0 && store_finish(store, &err))
            __builtin_trap();
    }
    source_close(source);
    store_close(store);
    (void)unlink(path);
    return 0;
}
