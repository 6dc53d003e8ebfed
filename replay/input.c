#include "replay/input.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

int input_open(struct input *input, const char *spec, const char *role, struct err *err)
{
    memset(input, 0, sizeof *input);
    input->spec = spec;
    input->role = role;
    if (strncmp(spec, "synth:", 6) == 0) {
        XXH128_hash_t h = XXH3_128bits(spec, strlen(spec));
        (void)snprintf(input->hash, sizeof input->hash, "%016llx%016llx", (unsigned long long)h.high64,
                       (unsigned long long)h.low64);
        return workload_open(&input->workload, spec + 6, err);
    }
    input->store = store_open(spec, err);
    if (!input->store)
        return -1;
    if (store_hash(input->store, input->hash, err)) {
        input_close(input);
        return -1;
    }
    return 0;
}

void input_close(struct input *input)
{
    if (input->workload.type)
        workload_close(&input->workload);
    store_close(input->store);
    memset(input, 0, sizeof *input);
}
