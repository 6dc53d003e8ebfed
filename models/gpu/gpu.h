/* gpu: numbers of a GPU chip that several engines share; section [gpu] of a platform file. */
#pragma once

#include <stdint.h>

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
    double block_gap_ns;     /* between two thread blocks that the chip starts, on whichever multiprocessor */
    double memory_ns;        /* from a load to its use, from device memory, nothing else going on */

    /* How a multiprocessor places blocks, issues and loads (models/gpu/sms.h). */
    int64_t register_unit;      /* registers that a warp takes are a multiple of these */
    int64_t spread_blocks;      /* 1: no more blocks resident on a multiprocessor than ceil(blocks / multiprocessors) */
    int64_t schedulers;         /* of a multiprocessor; each issues an instruction a cycle; a warp has one of them */
    int64_t atomics_stall;      /* 1: a warp waits for an atomic whoever uses its value */
    int64_t block_shared_bytes; /* of shared memory that the system takes for a block; L1 loses them */
    const char *l1_carve;       /* L1 by shared memory in use; NULL: l1_bytes less that (occupancy.h) */
    int64_t l1_ways;            /* lines of a set of L1; 0: one set */
    int64_t l1_sets;            /* 1: a hash of a line's number says which set, 0: its low bits */
    int64_t l1_replacement;     /* enum l1_replacement */
    int64_t l1_allocate;        /* enum l1_allocate */
    int64_t l1_cycles;          /* from a load's issue to a value that L1 has */
    int64_t l2_cycles;          /* to a value that L2 has */
    int64_t l1_banks;           /* sectors a cycle; sector number modulo this is the bank */
    int64_t miss_queue;         /* sectors that missed L1 and wait for the input buffer */
};
