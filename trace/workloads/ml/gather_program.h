/* gather_program: the kernel of a gather, access by access.
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
#ifndef TRACE_WORKLOADS_ML_GATHER_PROGRAM_H
#define TRACE_WORKLOADS_ML_GATHER_PROGRAM_H

#include "trace/program/program.h"

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

#endif
