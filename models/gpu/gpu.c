#include "models/gpu/gpu.h"
#include "models/base/sections.h"
#include "trace/base/param.h"

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
    PARAM_REAL_ROW(gpu, block_gap_ns, "ns", 0, 1e6, 0, "between two thread blocks that the chip starts"),
    PARAM_REAL_ROW(gpu, memory_ns, "ns", 0, 1e6, 296, "from a load to its use, from device memory"),
    /* Default: as the occupancy calculator of compute capability 7.0 to 9.0: 256 of a warp. */
    PARAM_INT_ROW(gpu, register_unit, "", 1, 4096, 256, "registers that a warp takes are a multiple of these"),
    /* Default: blocks are placed as long as they fit, CUDA programming guide, hardware multithreading. */
    PARAM_INT_ROW(gpu, spread_blocks, "", 0, 1, 0, "1: no more blocks on an SM than ceil(blocks / SMs)"),
    /* Default: GV100 white paper: four processing blocks, each with one warp scheduler. */
    PARAM_INT_ROW(gpu, schedulers, "", 1, 8, 4, "warp schedulers of an SM, an instruction a cycle each"),
    PARAM_INT_ROW(gpu, atomics_stall, "", 0, 1, 0, "1: a warp waits for each of its atomics"),
    PARAM_BYTES_ROW(gpu, block_shared_bytes, 0, 65536, 0, "of shared memory that the system takes for a block"),
    PARAM_TEXT_ROW(gpu, l1_carve, NULL,
                   "KiB of L1 by KiB of shared memory in use, at most, as 0:128,8:120; "
                   "not given: l1_bytes less shared memory"),
    /* Defaults: Khairy et al., ISCA 2020, section III-A: streaming L1 of Volta; ways, replacement: assumed. Jia et al.,
     * 2018, table 3.1: 28 cycles for a hit on a V100. */
    PARAM_INT_ROW(gpu, l1_ways, "lines", 0, 1 << 20, 0, "lines of a set of L1; 0: one set"),
    PARAM_CHOICE_ROW(gpu, l1_sets, "low|hash", 0, "what of a line's number says which set of L1 it is in"),
    PARAM_CHOICE_ROW(gpu, l1_replacement, "lru|random", 0, "which line of L1 goes"),
    PARAM_CHOICE_ROW(gpu, l1_allocate, "fill|miss|tag", 0, "when a line gets its place in L1"),
    PARAM_INT_ROW(gpu, l1_cycles, "cycles", 1, 1000, 28, "from a load's issue to its value, if L1 has it"),
    /* Default: Jia et al., 2018, table 3.1: 193 cycles for a hit of L2 on a V100. */
    PARAM_INT_ROW(gpu, l2_cycles, "cycles", 1, 10000, 193, "from a load's issue to its value, if L2 has it"),
    PARAM_INT_ROW(gpu, l1_banks, "", 1, 4, 4, "sectors that L1 looks up in a cycle, from different banks; 1, 2, 4"),
    /* Default: assumed, as GPGPU-Sim's configuration of Volta. */
    PARAM_INT_ROW(gpu, miss_queue, "sectors", 1, 256, 16, "that missed L1 and wait to leave the SM"),
    {0}};
