/* occupancy: how many thread blocks of a launch are resident on one multiprocessor at once.
 *
 * The fewest of what threads, registers, shared memory and the limit of blocks allow: a block takes whole warps; a warp
 * takes registers in units of 256 (8 for each lane), or as the platform says. A number that is not known (0) limits
 * nothing.
 * Worked example, 64 warps, 65,536 registers, 96 KiB of shared memory: blocks of 256 threads with 40 registers take
 * 8 x 1,280 registers: 6 blocks by registers, 8 by warps: 6.
 * Source: NVIDIA CUDA programming guide, hardware multithreading; allocation unit of 256 registers a warp: its table of
 * technical specifications and occupancy calculator, compute capability 6.0 to 9.0. */
#ifndef MODELS_GPU_OCCUPANCY_H
#define MODELS_GPU_OCCUPANCY_H

#include "models/gpu/gpu.h"
#include "trace/base/err.h"
#include "trace/program/program.h"

/* Blocks of `threads` threads (1 to 1,024); registers of a thread, shared bytes of a block: 0 = not known; most: a
 * limit besides, 0 = none. 0 if not even one fits. */
uint32_t occupancy_blocks(const struct gpu *gpu, uint32_t threads, uint32_t registers, uint32_t shared, uint32_t most);

/* The same of a launch on `sms` multiprocessors, whose blocks some chips spread evenly (gpu.spread_blocks). */
uint32_t occupancy_resident(const struct gpu *gpu, const struct program_launch *launch, uint32_t sms);

/* Bytes of L1 that are left while `shared` bytes of shared memory are in use on a multiprocessor. The table
 * gpu.l1_carve is a list S:L of KiB, S ascending: L is left where up to S are in use; more than the last S leave its L.
 * Worked example, 0:128,8:120,96:32: 0 leaves 128 KiB, 1 byte 120 KiB, 9 KiB 32 KiB. -1 with *err set: no such list. */
int64_t occupancy_l1(const struct gpu *gpu, uint64_t shared, struct err *err);

/* Say in *err that not even one block of this launch fits; -1. */
int occupancy_refuse(uint32_t launch, uint32_t threads, uint32_t registers, uint32_t shared, struct err *err);

#endif
