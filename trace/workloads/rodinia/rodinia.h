/* rodinia: what the programs of Rodinia share. A program is one file: its keys, kernels line by line, arrays, launches.
 *
 * Arrays lie one after the other on 256 B from 0xC0000000 on. Sizes are by default those with which gupta-2025-f3fs and
 * its artifact run the program.
 * Instructions, uses, registers, shared memory: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5,
 * without loads of kernel parameters; "assumed" where a file says so: two instructions before an access, each value
 * used by the next one. order=hoisted: the loads up to the next store, branch or barrier, then their uses: a store may
 * write what the loads behind it read, for all that the compiler knows. */
#pragma once

#include "trace/base/mem.h"
#include "trace/base/random.h"
#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { RODINIA_BASE = 0xC0000000u, RODINIA_ALIGN = 256 };

/* The last rows of a program's keys: the key `order`, and what compute_ns is the time of. */
#define RODINIA_KEYS(time)                                                                                             \
    PARAM_CHOICE_ROW(layout, order, "ptx|hoisted", ORDER_PTX,                                                          \
                     "each value used as in PTX, or independent loads first"),                                         \
        LAYOUT_COMPUTE_NS(time),                                                                                       \
    {                                                                                                                  \
        0                                                                                                              \
    }

/* A state from its keys, as layout_open(), with explicit arrays. */
static inline void *rodinia_open(const void *keys, size_t bytes, struct err *err)
{
    struct layout *layout = layout_open(keys, bytes, err);
    if (layout) {
        layout->base = RODINIA_BASE;
        layout->align = RODINIA_ALIGN;
    }
    return layout;
}

/* The program rodinia-NAME, of struct X, from a folder of Rodinia's cuda. */
#define RODINIA(X, NAME, FOLDER, SUMMARY, CLOSE)                                                                       \
    WORKLOAD_OF_LAYOUT(X, workload_rodinia_##X, "rodinia-" NAME, SUMMARY, "Rodinia 3.1 cuda/" FOLDER, rodinia_open,    \
                       CLOSE)
