/* legacy: managed memory before demand paging (GPUs without replayable faults); section [legacy] of a platform file.
 *
 * A launch copies all CPU-dirty 4 KiB pages to the GPU in bulk; after synchronisation pages come back one CPU fault at
 * a time, each bringing run_pages pages.
 *
 *     time of a launch = launch + (managed memory present ? present : 0)
 *                      + dirty pages x 4 KiB / copy_in + faults x (fault + run_pages x 4 KiB / copy_back)
 *     faults = ceil(pages touched / run_pages)
 *
 * Worked example, GM200, 1,024 pages (4 MiB), every page written: 46.35 + 79.65 us fixed, 1,024 x 0.315 us in,
 * 1,024 x (7.62 + 0.315) us back = 8,574 us; measured 8,458 us.
 * Source: Wilt 2017 (docs/papers.md), both tables, whose column "ms" is in microseconds: 4,096 KB in 8,458 is the row
 * of 496 MB/s. The boards, GeForce GTX 970 and Titan X, are labelled GM200 and GP100 there; the labels are kept.
 * Differs: with the 0 KB row as the only constant no slope fits within 10 %, hence `present`. */
#pragma once

#include <stdint.h>

#include "models/base/platform.h"
#include "models/base/policy.h"

struct legacy_platform {
    double launch_ns;           /* a synchronous launch without managed memory */
    double present_ns;          /* added by any managed memory at all */
    double copy_in_bytes_per_s; /* bulk copy of dirty pages */
    double fault_ns;            /* one CPU fault without its copy */
    int64_t run_pages;          /* pages that one CPU fault brings back */
    double copy_back_bytes_per_s;
    double mapped_bytes_per_s; /* GPU access to mapped pinned memory, the alternative */
};

extern const struct platform_section legacy_section;

/* The baseline `pinned`: the same program on mapped pinned memory. */
extern const struct policy_head uvm_pinned;

enum legacy_touch { LEGACY_WRITE, LEGACY_READ, LEGACY_NONE };

/* One launch and the CPU's touch of every page after it. */
struct legacy_cost {
    double time_ns;
    double copy_in_ns, fault_ns, copy_back_ns;
    int64_t faults; /* CPU faults */
    int64_t h2d_bytes, d2h_bytes;
};

/* A launch in steady state: `pages` of managed memory, all touched so by the CPU since the last launch. */
void legacy_launch(const struct legacy_platform *hw, int64_t pages, enum legacy_touch touch, struct legacy_cost *cost);

/* The same program on mapped pinned memory: no copy, no fault; the kernel reads `gpu_bytes` over the bus. */
void legacy_mapped(const struct legacy_platform *hw, int64_t gpu_bytes, struct legacy_cost *cost);
