/* gather_rows: the rows that workload gather copies, in which order: a file's, drawn ones, or those that k-hop
 * neighbour sampling asks for, one batch after the other (trace/graph/graph_sample.h). */
#ifndef TRACE_WORKLOADS_ML_GATHER_ROWS_H
#define TRACE_WORKLOADS_ML_GATHER_ROWS_H

#include "trace/program/program.h"
#include "trace/workloads/graph/graph_source.h"
#include "trace/workloads/scan.h"

/* The kernel of a gather, access by access.
 *
 * A launch copies the rows of one batch into a dense output in a grid-stride loop: thread i copies element i, column
 * i mod F of output row i div F (F elements a row), then i + all threads, i + 2 x all threads, .. It loads the row's
 * number, the element, and stores it. kernel=shift rotates the column that is read and written by (destination start -
 * source start) mod 32 elements inside the row, if F > 32 and F mod 32
 * != 0, so that a warp's reads start on a 128 B line. Worked example: rows of 480 B, shift, output row 0 from table row
 * 1 (element 120): rotated by (0 - 120) mod 32 = 8, so threads 0 to 31 read columns 8 to 39: bytes 512 to 639 of the
 * table. The reads of the table are those that the scans make under the pattern of the same name
 * (models/zerocopy/row.h). Source: dissertation, section 3.3, listing 3.2 (UnifiedTensor's aligned gather), which does
 * not say how many blocks: as many as the arrays' loop has by default. Differs: row numbers of 8 bytes, listing 3.2 has
 * 4; instructions between accesses are counted from that listing. */
enum { GATHER_ELEMENT = 4 };
enum gather_kernel { GATHER_NAIVE, GATHER_SHIFT };

/* What is gathered; stays the caller's. */
struct gather_rows {
    const uint64_t *rows; /* row numbers, those of all batches */
    uint64_t count;
    const uint64_t *ends; /* of batches, in rows; NULL: one batch */
    uint64_t batches;     /* 1 where ends is NULL */
    uint64_t table_rows, row_elements;
    uint64_t table; /* byte address of row 0 */
    int64_t threads_per_block;
    int64_t blocks; /* of a launch, at most; 0: as many as there are elements for: nobody loops */
    enum gather_kernel kernel;
};

struct gather_program {
    struct gather_rows of;
    struct program_alloc allocs[3];
};

/* Fails if the kernel cannot be launched so. */
int gather_program_init(struct gather_program *program, const struct gather_rows *rows, struct err *err);

/* state: a const struct gather_program *. */
extern const struct program_ops gather_program_ops;

struct gather_params {
    int64_t row_bytes, count, table_rows, reuse, threads_per_block, blocks, kernel, compute_ns;
    const char *rows, *recorded;
    struct graph_source source; /* its seed is that of every draw */
    const char *fan_outs;
    int64_t seeds, batches, labels, accesses;
    double labelled_pct, inside;
    int64_t communities;
};

/* The state of the workload. */
struct gather {
    struct gather_params p;
    uint64_t *rows;
    size_t n, cap;
    double *recorded; /* accesses to each row; NULL: none */
    uint64_t table_rows, elements, at;
    struct graph graph; /* of neighbour sampling; empty otherwise */
    uint32_t *labelled;
    uint64_t labelled_count;
    uint64_t *ends; /* of each batch, in rows; NULL: one launch for all */
    uint64_t batches, batch;
    struct scan *scans;
    struct scan_writer writer;
    struct gather_program programs[2]; /* by enum gather_kernel */
};

/* Fill rows, n, table_rows and, where the keys ask for them, recorded, graph, labelled, ends and batches from g->p; all
 * else of them is zero before. -1 with *err set; what has been filled is the caller's to free in any case. */
int gather_rows_find(struct gather *g, struct err *err);

#endif
