/* overhead: what device (D), managed (M) and host-pinned (H) memory cost a task on an integrated GPU; equations 2 to 8
 * and guidelines 9 to 11 of Bateni et al. 2020, one function each, named by its equation. Times in ms.
 *
 * Worked example (overhead_test.c): 4 copies of 1 MiB each way at 1e-7 ms/byte and 0.01 ms start-up:
 * O_D = 4 x 0.01 + 1e-7 x 2 MiB + 1e-7 x 2 MiB = 0.459 ms. */
#pragma once

#include <stdint.h>

#include "models/base/platform.h"

/* Numbers of an integrated GPU's memory system; section [placement] of a platform file.
 *
 * Names and units are those of Bateni et al. 2020, table III. Two units are repaired: l_ini is printed in ms but
 * multiplies bytes in equation 2, so it is ms/byte here; l_mem is printed in ms per access but multiplies bytes in
 * equation 4, which is taken at its worst case. */
struct placement_platform {
    double l_hd;            /* ms/byte, copy host to device */
    double l_dh;            /* ms/byte, copy device to host */
    double l_mapping;       /* ms/byte, creating and mapping GPU pages */
    double l_ini;           /* ms/byte, first touch of a copy's destination; 0 where it is allocated already */
    double l_l2;            /* ms, one access that hits the GPU's L2 */
    double l_mem;           /* ms, one access to memory */
    double t_ini;           /* ms, start-up of one copy */
    double c_cpu;           /* ms, flush of the whole CPU cache */
    double c_gpu;           /* ms, flush of the whole GPU cache */
    double max_parallelism; /* ILP x TLP at peak throughput */
    double l_uncached_read, l_uncached_write; /* ms/byte that the CPU loses in pinned memory; 0: it caches that */
    int64_t memory_bytes;                     /* shared by CPU and GPU */
};

extern const struct platform_section placement_section;

/* Table III, per application. Sums over kernels are given as sums: sum S_i over all kernels, over the N_c kernels
 * launched with a dirty CPU cache, and of what kernels modify. */
struct placement_inputs {
    double bytes_hd, bytes_dh; /* B_hd, B_dh */
    double copies;             /* N_m */
    double kernels;            /* N_k */
    double dirty_kernels;      /* N_c, at most N_k */
    double mapped_bytes;       /* sum of S_i over all N_k kernels */
    double dirty_mapped_bytes; /* sum of S_i over the N_c kernels */
    double l2_instructions;    /* N_L2, summed over kernels */
    double l2_hit_ratio;       /* tau under D */
    double parallelism;        /* ILP x TLP */
    bool faults;               /* managed memory comes by GPU page faults: managed_ms is O_M, nothing maps or flushes */
    double managed_ms;
};

/* Cost of an L2 miss without a cache. In flight: misses overlap, on each multiprocessor ILP x TLP of them, at most
 * those of peak throughput, so each takes that part of the latency (Little's law). The others are equation 7 to the
 * letter: each access takes a whole latency or none. Printed: none where parallelism is below the peak's. Physical:
 * none where it suffices to hide latency. */
enum placement_penalty { PLACEMENT_IN_FLIGHT, PLACEMENT_PRINTED, PLACEMENT_PHYSICAL, PLACEMENT_PENALTIES };

struct placement_misses {
    enum placement_penalty rule;
    double sms; /* multiprocessors; in flight only */
};

enum placement { PLACEMENT_DEVICE, PLACEMENT_MANAGED, PLACEMENT_PINNED, PLACEMENTS };

/* All of it at once. A margin is right side minus left side of its guideline: >= 0 allows the conversion. */
struct placement_overheads {
    double ms[PLACEMENTS];
    double idle_ms;        /* I under M */
    double pinned_idle_ms; /* I under H: S_i l_mapping over all kernels, equation 8 */
    double cache_ms;       /* T_c */
    double host_ms;        /* the CPU's loss under H: no part of O_H, but of the choice */
    double margin_managed; /* (9): (I - C_cpu - C_gpu) - (O_M - O_D) */
    double margin_pinned;  /* (10): (I - T_c) - (O_H - O_D) */
};

void placement_overheads(const struct placement_inputs *in, const struct placement_platform *hw,
                         struct placement_misses misses, struct placement_overheads *out);

/* Guideline 1: what (9) and (10) allow; where both hold, the smaller overhead; device memory where neither does. What
 * the CPU loses to uncached memory stands against pinned memory in both. */
enum placement guideline_1(const struct placement_overheads *overheads) PLUGIN_API(guideline_1);

/* Guideline 2, (11): kernels under M or H together never outnumber kernels under D. */
bool guideline_2(double managed_and_pinned_kernels, double device_kernels) PLUGIN_API(guideline_2);

const char *placement_name(enum placement placement) PLUGIN_API(placement_name); /* "device", "managed", "pinned" */
