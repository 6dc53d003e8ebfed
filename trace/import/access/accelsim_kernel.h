/* accelsim_kernel: one kernel's trace file, header, thread blocks and warps, into ACCESS records. */
#ifndef TRACE_IMPORT_ACCESS_ACCELSIM_KERNEL_H
#define TRACE_IMPORT_ACCESS_ACCELSIM_KERNEL_H

#include <regex.h>

#include "trace/access/access.h"
#include "trace/base/range_map.h"
#include "trace/import/reader.h"

enum { ACCELSIM_MEMORIES_MAX = 8192 };

/* Where lanes' addresses lie, and the memory that the list names (row 0; of more than ACCELSIM_MEMORIES_MAX pieces the
 * rest is not known). */
struct accelsim_extent {
    struct range_map known;
    bool built, overflown;
    uint64_t lowest, highest, lanes, outside;
};

int accelsim_extent_add(struct accelsim_extent *extent, uint64_t addr, uint64_t bytes, struct err *err);

/* What all kernels of one import share. */
struct accelsim_import {
    struct reader_context *context;
    struct access_sink sink;
    uint64_t shared, local, constant, texture; /* accesses left out */
    uint64_t missing_blocks, missing_kernels, empty_kernels, empty_warps, kernels;
    uint64_t unreadable; /* instruction lines */
    int64_t copies;      /* to the device */
    const char *chosen;  /* kernels: an id, or a name's regular expression; NULL: all */
    bool by_id;
    regex_t name;
    uint64_t passed_over; /* kernels not chosen */
    struct accelsim_extent extent;
};

/* Read one kernel trace called `name` (for messages) to its end. */
int accelsim_kernel(struct accelsim_import *import, const char *name, struct source *source, struct err *err);

#endif
