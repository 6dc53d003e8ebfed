/* gpu: numbers of a GPU chip that several engines share; section [gpu] of a platform file. */
#ifndef MODELS_GPU_GPU_H
#define MODELS_GPU_GPU_H

#include "trace/base/param.h"

struct gpu {
    int64_t sms;             /* streaming multiprocessors */
    int64_t memory_bytes;    /* device memory */
    int64_t clock_hz;        /* core clock */
    int64_t warps_per_sm;    /* resident warps, at most */
    int64_t blocks_per_sm;   /* resident thread blocks, at most */
    int64_t l1_bytes;        /* L1 data cache + shared memory of one SM */
    int64_t l2_bytes;        /* L2 cache */
    int64_t l2_ways;         /* its lines of 128 bytes per set */
    double dram_bytes_per_s; /* device memory bandwidth */
    int64_t registers_per_sm;
    int64_t shared_bytes;    /* shared memory of one SM, at most */
    double issue_per_cycle;  /* instructions of warps that an SM issues in a cycle */
    double dependent_cycles; /* from an arithmetic instruction to one that needs its result */
    double memory_ns;        /* from a load to its use, from device memory, nothing else going on */
};

extern const struct param gpu_params[];

#endif
