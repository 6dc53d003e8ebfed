/* lane: lists that single threads read in lockstep; a warp's 32 lanes walk 32 lists. Pattern naive counts by it.
 *
 * Load j of a warp: every lane whose list is longer than j reads element j of it. A graph's lists lie one behind the
 * other, so a load's sectors come sorted, in lane order, and runs are found on the way. Reuse: none; warp (a bitmap
 * over the warp's part of the structure); group4 (loads j = 4q .. 4q + 3 of a lane are issued together: a lane adds
 * nothing if its sector equals that of the load before; loads of an incomplete last four are groups of their own); l1
 * (as warp, over the lists of a thread block).
 * Rules none and group4 have a closed form if each list but a warp's last is a line or longer. Then the lanes of a load
 * never share a line, and a list's requests follow from its start and length.
 * Source: EMOGI 382dbcc, the baseline kernels; group4: machine code of such loops is unrolled by four (measured: H200,
 * CUDA 13.0, 2026-11). */
#pragma once

#include "models/zerocopy/link.h"
#include "models/zerocopy/pattern.h"

/* A lane's list: its byte address, its elements. */
struct lane {
    uint64_t addr, count;
};

/* A warp and its requests. A warp with the same distances between its lanes, whole lines further on, makes the same
 * ones; lists of arrays mostly do. */
struct lane_warp {
    struct lane lane[WARP_LANES]; /* addr: from the line on in which lane 0 begins */
    size_t n;
    struct request_mix mix;
    uint64_t loads, lane_loads;
};

struct lane_reader {
    const struct pattern_view *view;
    struct lane_warp last; /* rules none and group4 */
    struct request_mix mix;
    uint64_t loads, lane_loads, longest;
    uint64_t *held; /* bitmap of sectors from held_first on */
    size_t held_cap;
    uint64_t held_first, held_sectors;
};

void lane_reader_release(struct lane_reader *r) PLUGIN_API(lane_reader_release);

/* Count the lists of one block: lanes of scans[0..n) in order; warps are lane / 32. Lists must ascend. */
int lane_read_block(struct lane_reader *r, const struct scan *scans, size_t n, struct err *err)
    PLUGIN_API(lane_read_block);

/* The exact loads into a coalescer, any lists. */
int lane_expand(const struct pattern_view *view, const struct scan *scans, size_t n, struct coalescer *c,
                struct err *err) PLUGIN_API(lane_expand);

/* Rows of a table gathered into a dense output by a kernel whose thread i copies element i of the output; shared
 * by naive and shift.
 *
 * Element i is column i mod F of row i div F of the output (F elements a row). A warp copies 32 consecutive elements,
 * so it may read the end of one row and the start of another. With `shift` the column read and written is rotated by
 * (destination start - source start) mod 32 inside the row, if F > 32 and F mod 32 != 0.
 * Worked example: 480 B rows of 4-byte elements, row 1 into output row 0: 8 requests straight, 5 shifted.
 * Source: dissertation, section 3.3 (UnifiedTensor's aligned gather); checked against exact counts for 42 row sizes. */
/* As zerocopy_pattern.expand. */
int row_expand(const struct pattern_view *view, bool shift, const struct scan *scans, size_t n,
               struct pattern_carry *carry, struct coalescer *c, struct err *err) PLUGIN_API(row_expand);

/* A counter that expands rows into a coalescer. */
struct pattern_counter *row_counter_new(const struct pattern_view *view, bool shift, struct err *err)
    PLUGIN_API(row_counter_new);
void row_counter_free(struct pattern_counter *counter) PLUGIN_API(row_counter_free);
int row_count(struct pattern_counter *counter, const struct scan *scans, size_t n, struct err *err)
    PLUGIN_API(row_count);
int row_finish(struct pattern_counter *counter, struct pattern_count *count, struct err *err) PLUGIN_API(row_finish);

/* How often lanes that walk parts of their own come back to a sector that the L1 no longer holds.
 *
 * Each lane owns a line at a time; W lines are at work on a multiprocessor whose L1 has C. A line is gone between two
 * groups of loads with probability p = 1 - exp(-a p W / C): what is fetched again pushes out what others still need, so
 * p is 0 up to a W / C = 1 and rises steeply beyond. Loads issued together (groups of four) lose a line with
 * q = 1 - exp(-b p W / C). A sector read by g groups of n loads is fetched 1 + (g - 1) p + (n - g) q times. `a` is
 * larger in the first wave of blocks, which run in step. Dynamic shared memory that holds occupancy down takes L1:
 * fewer blocks than fit leave it what 228 KB of 256 KiB leave. Worked example, H200, 8 blocks of 256 threads, 32 4-byte
 * elements each: W = 2,048, C = 1,984; p is 0.2, 0.55 in the first wave: 1.29 and 1.79 fetches of a sector.
 * Source: fitted to three counts (measured: H200, driver 580.159.04, 2026-11): 1.547 fetches at 64 MiB, 1.323 at 512
 * MiB, 3.7 at half the blocks; the form for random replacement. Differs: one curve for all chunks; good to 25 %. */
struct l1_kernel {
    double blocks;         /* of the launch */
    double blocks_per_sm;  /* resident, at most; 0: as many as fit */
    double warps;          /* of a block */
    double lines_per_warp; /* at work at once */
    double sector_loads;   /* of one lane to one sector, >= 1 */
};

/* Fetches of a sector, at least 1. 1 where the platform has no L1 numbers. */
double l1_fetches(const struct pcie *p, const struct gpu *gpu, const struct l1_kernel *kernel);

/* Blocks of `warps` warps that are resident on a multiprocessor at most. */
double l1_resident_blocks(const struct gpu *gpu, double warps, double blocks_per_sm);
