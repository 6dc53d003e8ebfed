#include "models/placement/placement_platform.h"
#include "trace/base/param.h"

static const struct param params[] = {
    PARAM_REAL_ROW(placement_platform, l_hd, "ms/byte", 0, 1, 1e-7, "copy host to device"),
    PARAM_REAL_ROW(placement_platform, l_dh, "ms/byte", 0, 1, 1e-7, "copy device to host"),
    PARAM_REAL_ROW(placement_platform, l_mapping, "ms/byte", 0, 1, 2e-8, "creating and mapping GPU pages"),
    PARAM_REAL_ROW(placement_platform, l_ini, "ms/byte", 0, 1, 0, "first touch of a copy's destination"),
    PARAM_REAL_ROW(placement_platform, l_l2, "ms", 0, 1, 1e-4, "one access that hits the GPU's L2"),
    PARAM_REAL_ROW(placement_platform, l_mem, "ms", 0, 1, 3e-4, "one access to memory"),
    PARAM_REAL_ROW(placement_platform, l_writeback, "ms/byte", 0, 1, 0,
                   "write-back at kernel end; 0: worst case c_gpu"),
    PARAM_REAL_ROW(placement_platform, t_ini, "ms", 0, 1e3, 0.01, "start-up of one copy"),
    PARAM_REAL_ROW(placement_platform, c_cpu, "ms", 0, 1e3, 0.05, "flush of the whole CPU cache"),
    PARAM_REAL_ROW(placement_platform, c_gpu, "ms", 0, 1e3, 0.01, "flush of the whole GPU cache"),
    PARAM_REAL_ROW(placement_platform, max_parallelism, "", 0, 1e9, 64, "ILP x TLP at peak throughput"),
    PARAM_BYTES_ROW(placement_platform, memory_bytes, 1 << 20, 0x1p45, 0x1p33, "memory shared by CPU and GPU"),
    {0}};

static const struct platform_general general[] = {{"l_writeback", "the worst case, the whole cache: c_gpu"}, {0}};

const struct platform_section placement_section = {"placement", params, sizeof(struct placement_platform), general};
