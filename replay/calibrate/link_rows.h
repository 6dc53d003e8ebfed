/* link_rows: measured times of requests over a link, or of block copies, with the counts they are made of.
 *
 * From CSV (.csv, compressed or not) whose header names columns, in any order; `replay zerocopy --requests` and
 * fixtures/cuda/zero_copy_link.cu write them:
 *   time_ns                                        measured, of all launches of the row; required, > 0
 *   req32 req64 req96 req128 host64_lines          requests by size and the 64 B host lines they overlap; or
 *   copy_bytes [copies]                            a block copy in so many pieces (default 1)
 *   warp_loads loads_at_once resident_warps launches   optional: what the GPU's ability to issue needs (default: that
 *                                                  bound is left out; 1; as many as fit; 1)
 *   jumps span_bytes                               optional: reads that begin where none ended, in so many bytes
 *   name, or policy                                optional: what the row is called
 * Other columns are passed over, and so are lines that are empty or start with #.
 * From recordings with counters (tables counters and kernels): a row for each kernel, all launches together:
 * l2_sysmem_requests and l2_sysmem_sectors, or pcie_write_bytes / 16 and pcie_read_bytes - 12 x requests. Counters do
 * not say how requests lie on 64 B lines: lines_known is false. */
#ifndef REPLAY_CALIBRATE_LINK_ROWS_H
#define REPLAY_CALIBRATE_LINK_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "models/zerocopy/link.h"
#include "trace/base/err.h"
#include "trace/import/source.h"

struct link_row {
    char name[64];
    struct link_launch launch; /* of all launches together; no requests: a block copy */
    double chain_loads;        /* that wait for each other, of the longest list */
    double launches;           /* >= 1 */
    double copy_bytes, copies;
    double time_ns; /* measured */
    bool lines_known;
};

struct link_rows {
    struct link_row *rows;
    size_t count, cap;
    size_t skipped; /* kernels of recordings whose counters and times do not belong together */
};

/* Add the rows of one file. On failure *err names file and line; what was read stays. */
int link_rows_read(struct link_rows *rows, const char *path, struct err *err);

/* The CSV form alone; path is for messages. */
int link_rows_csv(struct link_rows *rows, struct source *source, const char *path, struct err *err);

void link_rows_release(struct link_rows *rows);

static inline bool link_row_is_copy(const struct link_row *row)
{
    return row->copy_bytes > 0;
}

#endif
