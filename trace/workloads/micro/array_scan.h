/* array_scan: workload `array` in host memory, read without faults: the three zero-copy programs of the H200 runs.
 *
 * They are the closed form of pattern stride; the other patterns have none: setup() says no lanes and start() fails.
 * naive: thread t reads `chunk` consecutive elements from offset + t chunk on; merged and aligned: a grid-stride loop
 * over the elements from `offset` to the end. */
#ifndef TRACE_WORKLOADS_MICRO_ARRAY_SCAN_H
#define TRACE_WORKLOADS_MICRO_ARRAY_SCAN_H

#include "trace/base/param.h"
#include "trace/workloads/scan.h"

struct array_scan_params {
    int64_t element; /* choice: 4, 8, 16 */
    int64_t chunk, offset, blocks_per_sm, reuse;
};

/* Rows of a table whose params struct S holds a `struct array_scan_params scan`. */
#define ARRAY_SCAN_ROWS(S)                                                                                             \
    {"element",                                                                                                        \
     PARAM_CHOICE,                                                                                                     \
     "4|8|16|1|2",                                                                                                     \
     0,                                                                                                                \
     0,                                                                                                                \
     0,                                                                                                                \
     offsetof(struct S, scan.element),                                                                                 \
     "zero-copy: bytes that a lane loads",                                                                             \
     NULL},                                                                                                            \
        {"chunk",                                                                                                      \
         PARAM_INT,                                                                                                    \
         "elements",                                                                                                   \
         1,                                                                                                            \
         1 << 20,                                                                                                      \
         32,                                                                                                           \
         offsetof(struct S, scan.chunk),                                                                               \
         "zero-copy, naive: of one thread",                                                                            \
         NULL},                                                                                                        \
        {"offset",                                                                                                     \
         PARAM_INT,                                                                                                    \
         "elements",                                                                                                   \
         0,                                                                                                            \
         1 << 20,                                                                                                      \
         0,                                                                                                            \
         offsetof(struct S, scan.offset),                                                                              \
         "of pattern stride: first element read",                                                                      \
         NULL},                                                                                                        \
        {"blocks_per_sm",                                                                                              \
         PARAM_INT,                                                                                                    \
         "",                                                                                                           \
         0,                                                                                                            \
         64,                                                                                                           \
         0,                                                                                                            \
         offsetof(struct S, scan.blocks_per_sm),                                                                       \
         "zero-copy: resident, 0: as many as fit",                                                                     \
         NULL},                                                                                                        \
    {                                                                                                                  \
        "reuse", PARAM_CHOICE, SCAN_REUSE_NAMES, 0, 0, 0, offsetof(struct S, scan.reuse),                              \
            "zero-copy: which sectors are not requested again", NULL                                                   \
    }

/* How far the scans have been handed out. */
struct array_scan {
    struct scan scan;
    uint32_t given; /* launches so far */
};

struct array;

/* Bytes of an element. */
uint32_t array_scan_element(const struct array *array);

/* Whether the array has the elements asked for; -1 with *err set. */
int array_scan_check(const struct array *array, struct err *err);
extern const struct scan_ops array_scan_ops;

#endif
