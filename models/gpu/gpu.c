#include "models/gpu/gpu.h"

/* Defaults: NVIDIA TITAN V / V100 (GV100 white paper, table 1): 80 SMs, 64 warps and 32 blocks per SM. */
const struct param gpu_params[] = {
    PARAM_INT_ROW(gpu, sms, "", 1, 1024, 80, "streaming multiprocessors"),
    PARAM_BYTES_ROW(gpu, memory_bytes, 1 << 20, 0x1p45, 12884901888.0, "device memory"),
    PARAM_INT_ROW(gpu, clock_hz, "Hz", 1e6, 1e10, 1.2e9, "core clock"),
    PARAM_INT_ROW(gpu, warps_per_sm, "", 1, 256, 64, "resident warps per SM, at most"),
    PARAM_INT_ROW(gpu, blocks_per_sm, "", 1, 256, 32, "resident thread blocks per SM, at most"),
    PARAM_BYTES_ROW(gpu, l1_bytes, 0, 0x1p30, 131072, "L1 data cache and shared memory of one SM"),
    PARAM_BYTES_ROW(gpu, l2_bytes, 0, 0x1p34, 4718592, "L2 cache"),
    /* Default: Accel-Sim, gpgpusim.config of SM86_RTX3070: dl2 S:64:128:16. */
    PARAM_INT_ROW(gpu, l2_ways, "lines", 1, 1024, 16, "lines of a set of the L2 cache"),
    PARAM_REAL_ROW(gpu, dram_bytes_per_s, "bytes/s", 1e6, 1e14, 652.8e9, "device memory bandwidth"),
    /* Defaults: CUDA programming guide, technical specifications, compute capability 7.0. */
    PARAM_INT_ROW(gpu, registers_per_sm, "", 1024, 1 << 20, 65536, "32-bit registers per SM"),
    PARAM_BYTES_ROW(gpu, shared_bytes, 1024, 1 << 20, 98304, "shared memory per SM, at most"),
    /* Defaults: GV100 white paper (four schedulers of one instruction a cycle); Jia et al., Dissecting the NVIDIA Volta
     * GPU architecture via microbenchmarking, 2018 (four cycles); mt4g 4cc5566, sample_results, pointer chase on a V100
     * PCIe: 408 cycles at 1.38 GHz. */
    PARAM_REAL_ROW(gpu, issue_per_cycle, "", 0.1, 64, 4, "instructions that an SM issues in a cycle"),
    PARAM_REAL_ROW(gpu, dependent_cycles, "cycles", 0, 1000, 4, "from an instruction to one that needs its result"),
    PARAM_REAL_ROW(gpu, memory_ns, "ns", 0, 1e6, 296, "from a load to its use, from device memory"),
    {0}};
