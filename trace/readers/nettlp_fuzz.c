/* Any bytes as a capture, and as raw packets at an offset: an import, or an error; never a crash. */
#include "trace/readers/nettlp.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err;
    char path[64];
    (void)snprintf(path, sizeof path, "/dev/shm/offchip-nettlp-fuzz-%d.db", (int)getpid());
    struct nettlp_options options = {.tlp_offset = n && data[n - 1] % 2 ? data[n - 1] % 32 : -1};
    struct store *store = store_create(path, true, "fuzz", &err);
    struct source *source = store ? source_from_memory(data, n, &err) : NULL;
    if (source) {
        struct reader_context context = {.store = store, .options = &options, .path = "fuzz"};
        if (reader_run(&read_nettlp, &context, source, &err) == 0 && store_finish(store, &err))
            __builtin_trap();
    }
    source_close(source);
    store_close(store);
    (void)unlink(path);
    return 0;
}
