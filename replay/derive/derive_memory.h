/* derive_memory: which addresses are GPU memory whatever mechanism is asked about.
 *
 * Of a generated program: its allocations that say so (program_alloc.device). Of a recording: memory allocated on the
 * device, if the recording's table allocations names managed, pinned or registered memory beside it: then the program
 * itself keeps apart what stays on the GPU (labels, flags) and what comes from the host (the graph). A recording whose
 * program allocates all its memory on the device is asked what would be if it did not: nothing is left out. */
#ifndef REPLAY_DERIVE_DERIVE_MEMORY_H
#define REPLAY_DERIVE_DERIVE_MEMORY_H

#include "replay/derive/derive.h"

struct derive_range {
    uint64_t first, last; /* bytes */
};

/* Zeroed before open. */
struct derive_memory {
    struct derive_range *device, *host; /* each ascending; host: where the program can have them elsewhere */
    size_t devices, hosts, device_cap, host_cap;
};

int derive_memory_open(struct derive_memory *memory, const struct derive_source *source, struct err *err);
void derive_memory_release(struct derive_memory *memory);

/* Whether the byte lies in memory that stays on the GPU; what was both at different times does not. */
bool derive_memory_stays(const struct derive_memory *memory, uint64_t addr);

#endif
