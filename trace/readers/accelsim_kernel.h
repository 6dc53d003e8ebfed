/* accelsim_kernel: one kernel's trace file, header, thread blocks and warps, into ACCESS records. */
#ifndef TRACE_READERS_ACCELSIM_KERNEL_H
#define TRACE_READERS_ACCELSIM_KERNEL_H

#include "trace/access.h"
#include "trace/reader.h"

/* What all kernels of one import share. */
struct accelsim_import {
    struct reader_context *context;
    struct access_sink sink;
    uint64_t shared, local, constant, texture; /* accesses left out */
    uint64_t missing_blocks, empty_warps, kernels;
    int64_t copies; /* to the device */
};

/* Read one kernel trace called `name` (for messages) to its end. */
int accelsim_kernel(struct accelsim_import *import, const char *name, struct source *source, struct err *err);

#endif
