/* placement_platform: numbers of an integrated GPU's memory system; section [placement] of a platform file.
 *
 * Names and units are those of Bateni et al. 2020, table III. Two units are repaired: l_ini is printed in ms but
 * multiplies bytes in equation 2, so it is ms/byte here; l_mem is printed in ms per access but multiplies bytes in
 * equation 4, so equation 4 has a number of its own, l_writeback. */
#ifndef MODELS_PLACEMENT_PLACEMENT_PLATFORM_H
#define MODELS_PLACEMENT_PLACEMENT_PLATFORM_H

#include <stdint.h>

#include "models/base/platform.h"

struct placement_platform {
    double l_hd;        /* ms/byte, copy host to device */
    double l_dh;        /* ms/byte, copy device to host */
    double l_mapping;   /* ms/byte, creating and mapping GPU pages */
    double l_ini;       /* ms/byte, first touch of a copy's destination; 0 where it is allocated already */
    double l_l2;        /* ms, one access that hits the GPU's L2 */
    double l_mem;       /* ms, one access to memory */
    double l_writeback; /* ms/byte, modified data written back at kernel end (equation 4); 0: the worst case, C_gpu */
    double t_ini;       /* ms, start-up of one copy */
    double c_cpu;       /* ms, flush of the whole CPU cache */
    double c_gpu;       /* ms, flush of the whole GPU cache */
    double max_parallelism; /* ILP x TLP at peak throughput */
    int64_t memory_bytes;   /* shared by CPU and GPU */
};

extern const struct platform_section placement_section;

#endif
