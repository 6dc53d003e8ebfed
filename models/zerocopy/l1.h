/* l1: how often lanes that walk parts of their own come back to a sector that the L1 no longer holds.
 *
 * Each lane owns a line at a time; a kernel has W lines at work on a multiprocessor and its L1 has C. A line is gone
 * between two groups of loads with probability p = 1 - exp(-a p W / C): what is fetched again pushes out what others
 * still need, so p is 0 up to a W / C = 1 and rises steeply beyond. Loads issued together (groups of four) lose a line
 * with q = 1 - exp(-b p W / C). A sector read by g groups of n loads is fetched 1 + (g - 1) p + (n - g) q times. `a` is
 * larger while the blocks of the first wave run in step than later. Dynamic shared memory that holds occupancy down
 * takes its bytes from the L1: fewer blocks than fit leave it what 228 KB of 256 KiB leave.
 * Worked example, H200, 8 blocks of 256 threads, 32 4-byte elements each: W = 2,048, C = 1,984; p is 0.2 later and 0.55
 * in the first wave: 1.29 and 1.79 fetches of a sector.
 * Source: fitted to three counts (measured: H200, driver 580.159.04, 2026-11): 1.547 fetches at 64 MiB, 1.323 at 512
 * MiB, 3.7 at half the blocks; the form for random replacement. Differs: one curve for chunks and element sizes not
 * measured; good to 25 %. */
#ifndef MODELS_ZEROCOPY_L1_H
#define MODELS_ZEROCOPY_L1_H

#include "models/gpu/gpu.h"
#include "models/zerocopy/pcie.h"

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

#endif
