/* derive: what an engine replays, made from recorded accesses (stream "accesses", trace/access/access.h).
 *
 * touches: one TOUCH per warp instruction and 4 KiB page it reaches, actors being warps numbered by first appearance in
 *     their launch, time = number of the instruction; before them one managed ALLOC per stretch of address space that
 *     is touched or stands in table allocations (gaps below 2 MiB inside a VA block are filled, as a VA block is one).
 * requests: the PCIe reads and writes that the accesses make when the data is in host memory: per warp instruction and
 *     128 B line one request per run of adjacent 32 B sectors (models/zerocopy/warp.h), as TLP records MRd and MWr with
 *     4-word headers, and their histogram; with a reuse rule, less what an earlier load still holds. And the reads as
 *     lists for the zerocopy engine (replay/derive/derive_scans.h).
 * dram: the requests that reach DRAM through an L2 (models/gpu/l2.h): DRAM_READ for each run of adjacent sectors that
 *     is fetched, DRAM_WRITEBACK for each that goes back; what is still dirty at the end goes back then.
 * Order is that of the accesses; launches are kept (KERNEL, KERNEL_END, group). There is no time.
 * Worked example: vector add of 65,536 floats, 2,048 warps: 6,144 touches of 192 pages; 4,096 reads and 2,048 writes of
 * 128 B; through an L2 that holds it all, 4,096 fetches and 2,048 write-backs of 128 B. */
#ifndef REPLAY_DERIVE_DERIVE_H
#define REPLAY_DERIVE_DERIVE_H

#include "trace/access/access.h"
#include "trace/workloads/scan.h"

struct derive_options {
    uint64_t first, last;  /* only accesses to lines with a byte in first..last; 0, UINT64_MAX: all */
    const char *kernel;    /* only launches whose kernel's name matches this extended regular expression; NULL: all */
    enum scan_reuse reuse; /* requests: REUSE_NONE, REUSE_PREVWARP, REUSE_WARP */
    int64_t l2_bytes, l2_ways;
    bool keep_dirty; /* dram: no write-backs at the end */
};

/* One warp instruction. */
struct derive_op {
    uint64_t id;     /* block << 32 | warp in block */
    uint32_t launch; /* group */
    uint32_t access; /* enum record_access */
    uint32_t bytes;  /* per lane */
    int lines;
    struct access_line line[2 * ACCESS_LANES];
};

struct derive_counts {
    uint64_t launches, instructions, lines, sectors; /* taken */
    uint64_t left_out;                               /* instructions outside the address range or of other kernels */
    uint64_t records;                                /* written */
};

/* What derive_walk() calls; each returns 0, or -1 with *err set. launch and end may be NULL: nothing to do there. */
struct derive_taker {
    int (*launch)(void *ctx, const struct record *kernel, struct err *err);
    int (*op)(void *ctx, const struct derive_op *op, struct err *err);
    int (*end)(void *ctx, uint32_t launch, struct err *err);
};

/* Go over the accesses of a trace. counts may be NULL. A trace without accesses is an error. */
int derive_walk(struct store *in, const struct derive_options *options, const struct derive_taker *taker, void *ctx,
                struct derive_counts *counts, struct err *err);

/* Copy table kernels. */
int derive_copy_kernels(struct store *in, struct store *out, struct err *err);

int derive_touches(struct store *in, struct store *out, const struct derive_options *options,
                   struct derive_counts *counts, struct err *err);
int derive_requests(struct store *in, struct store *out, const struct derive_options *options,
                    struct derive_counts *counts, struct err *err);
int derive_dram(struct store *in, struct store *out, const struct derive_options *options, struct derive_counts *counts,
                struct err *err);

#endif
