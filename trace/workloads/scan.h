/* scan: what the zero-copy engine reads; launches of kernels that scan parts of a structure in host memory.
 *
 * A workload that produces WORKLOAD_SCANS hands out, launch by launch, which elements each actor reads: the neighbour
 * list of an active vertex, a row to be gathered, a part of an array. How a kernel walks them (a thread or a warp for
 * each list, aligned or not) is the pattern's business (models/zerocopy/pattern.h).
 *
 * Order of calls: setup() once, start(), next() until it returns 0; start() again begins anew. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/graph/graph.h"

/* Lanes of one batch lie in one range [k SCAN_BATCH, (k + 1) SCAN_BATCH): warps and blocks are never split. */
enum { SCAN_BATCH = 4096 };

/* count >= 1 elements from element `first` on. lane: the vertex, or the row's number in the output. */
struct scan {
    uint64_t first, count, lane;
};

/* What is scanned. */
enum scan_shape {
    SCAN_LISTS, /* neighbour lists; lanes ascend within a launch, and so do the lists */
    SCAN_ROWS,  /* rows of row_elements elements, gathered into a dense output in lane order */
    SCAN_ARRAY, /* one scan: the whole array; naive: thread t reads elements [t chunk, (t + 1) chunk) of it */
};

/* Which sectors a later load need not request again. */
enum scan_reuse {
    REUSE_AUTO,     /* the pattern's default */
    REUSE_NONE,     /* every warp load requests all its sectors */
    REUSE_PREVWARP, /* not those that the previous warp load touched */
    REUSE_WARP,     /* not those that the same warp requested in the same launch */
    REUSE_GROUP4,   /* naive: a lane's four loads issued together request a sector once */
    REUSE_L1,       /* the platform's L1 data cache (models/zerocopy/lane.h) */
};
#define SCAN_REUSE_NAMES "auto|none|prevwarp|warp|group4|l1"

struct scan_structure {
    const char *name;  /* "edges", "weights", "array", "table" */
    uint64_t base;     /* byte address of element 0 */
    uint32_t element;  /* bytes: 4, 8 or 16 */
    uint64_t elements; /* of the whole structure */
};

struct scan_setup {
    enum scan_shape shape;
    enum scan_reuse reuse;
    struct scan_structure structures[2]; /* [1]: a companion read at the same indices (weights) */
    size_t structure_count;
    int64_t row_elements;      /* SCAN_ROWS */
    int64_t chunk;             /* SCAN_ARRAY: elements per thread of the naive kernel */
    int64_t threads_per_block; /* of the kernels */
    int64_t blocks_per_sm;     /* resident blocks, 0: as many as fit */
    int64_t stride_blocks;     /* SCAN_ARRAY: blocks of the grid-stride kernels */
    uint64_t bytes;            /* of the structures, where not all of them is an element; 0: all is */
    uint64_t lanes;            /* vertices, rows; what one launch starts an actor for */
    bool visits;               /* the kernel reads GPU memory for every element (labels) and waits for it */
    /* Rows of a graph's vertices: what they can be ranked by; NULL and 0 otherwise. Valid while the workload is open.
     */
    const struct graph *graph;
    const uint32_t *labelled; /* vertices that batches start from; NULL: all */
    uint64_t labelled_count;
    const double *recorded; /* accesses to each row in a recording of another run; NULL: none */
    uint64_t batches;       /* that the rows were sampled in; 0: not said */
    double scale; /* 0: the launches are the whole; else an expectation: what is counted stands for `scale` times as
                     much */
    bool unmasked_head; /* aligned kernels read the elements below a list's start too (EMOGI's SSSP) */
};

struct scan_batch {
    uint32_t launch; /* from 0 */
    const struct scan *scans;
    size_t n;  /* may be 0 */
    bool last; /* the launch ends with this batch */
};

struct scan_ops {
    void (*setup)(void *state, struct scan_setup *setup);
    int (*start)(void *state, struct err *err);
    /* 1 with *batch filled (valid until the next call), 0 at the end, -1 with *err set. */
    int (*next)(void *state, struct scan_batch *batch, struct err *err);
    /* Traversals (roots) that the launches so far belong to; metrics are means over them. At least 1; NULL: 1. */
    uint64_t (*runs)(void *state);
};

static inline uint64_t scan_runs(const struct scan_ops *ops, void *state)
{
    return ops->runs ? ops->runs(state) : 1;
}

/* --- scans as records, for `synth W -o F`: one SCAN record for each scan and structure (flags: the
 * structure's number), in order, and a KERNEL_END after each launch --- */

/* Where the writer stands; zeroed before the first call. */
struct scan_writer {
    bool started, in_batch;
    struct scan_setup setup;
    struct scan_batch batch;
    size_t scan, structure;
};

struct record;

/* Fill at most cap records; *n = 0 at the end. */
int scan_write(struct scan_writer *writer, const struct scan_ops *ops, void *state, struct record *records, size_t cap,
               size_t *n, struct err *err);
