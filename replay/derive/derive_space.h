/* derive_space: which addresses stay on the GPU, and which stretches of the address space a recording touches. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/derive/derive.h"
#include "trace/base/id_map.h"

/* Which addresses are GPU memory under every mechanism.
 *
 * Of a generated program: its allocations that say so (program_alloc.device). Of a recording: memory allocated on the
 * device, if its table allocations also names managed, pinned or registered memory. Such a program itself separates
 * data that stay on the GPU (labels, flags) from data of the host (the graph). If a recorded program allocates
 * everything on the device, nothing is left out. */
struct derive_memory {
    struct derive_ranges {
        struct derive_range {
            uint64_t first, last; /* bytes */
        } * items;
        size_t count, cap;
    } device, host; /* each ascending; host: where the program can have them elsewhere. Zeroed before open */
};

int derive_memory_open(struct derive_memory *memory, const struct derive_source *source, struct err *err);
void derive_memory_release(struct derive_memory *memory);

/* Whether the byte lies in memory that stays on the GPU; what was both at different times does not. */
bool derive_memory_stays(const struct derive_memory *memory, uint64_t addr);

struct derive_stretch {
    uint64_t first, last; /* pages of 4 KiB */
    uint64_t offset;      /* bytes of all stretches before this one */
    bool read;            /* something in it is read */
};

/* Zeroed before use: derive_space_touch() for every page, derive_space_merge() once, then the rows, which ascend and do
 * not overlap. */
struct derive_space {
    struct derive_stretch *rows; /* once merged */
    size_t count, row_cap;
    /* While it is filled: the touched part of each VA block. */
    struct derive_stretch *blocks;
    size_t cap;
    struct id_map numbers; /* block to index */
};

int derive_space_touch(struct derive_space *space, uint64_t page, bool read, struct err *err);

/* Make the rows: what was touched, and the allocations of `in` (NULL: not those) that do not stay on the GPU, joined
 * where they touch each other or share a 2 MiB VA block. */
int derive_space_merge(struct derive_space *space, struct store *in, const struct derive_memory *memory,
                       struct err *err);
void derive_space_release(struct derive_space *space);

/* Bytes of all rows, and where a byte stands if they follow each other without gaps; UINT64_MAX: in none. */
uint64_t derive_space_bytes(const struct derive_space *space);
uint64_t derive_space_offset(const struct derive_space *space, uint64_t addr);
