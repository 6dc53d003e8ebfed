/* host_reads: simulates a program's reads of host memory. Its warps run on a GPU's multiprocessors with their L1
 * (models/gpu/sms.h). The GPU's memory answers after a fixed time, host memory over the link.
 *
 * The link serves requests in order of arrival. Each takes the time that it adds to those around it (struct
 * link_queue); its answer comes load_ns later. A request is what one load asks of one line, by the platform's rule
 * (warp.h). Stores to host memory are answered at once and not counted.
 *
 * A sector that is under way: each warp asks for it once. Other warps join only until L2 has answered (l2_cycles).
 * Measured on an H200: neighbouring warps that loop over an array share no sector (33.7 to 36.7 GB/s; if they shared,
 * 42.6); they are 512 to 1,023 cycles apart here. Warps that have just begun share all (537,835 sectors; if none,
 * 591,654); they are up to 8 apart. On an H100 the warps of a stencil's block share rows, up to 128 apart. A sector of
 * the GPU's own memory is asked for once.
 *
 * A long launch is sampled: some multiprocessors run (launch_weights.h), one of them with the block that has the
 * longest chain of loads. Their share of the link is their share of all lines. Counts are divided by that share; the
 * scatter between multiprocessors is the standard error. Some run together, because a block goes to whichever is free.
 * BFS of kron 20 in blocks of 1,024 threads takes 9.85 ms in whole, 10.3 on 5 of 132 together, 12.0 on 4 one by one;
 * measured 9.90.
 *
 * Worked example, one warp that reads 4 B a lane of one line, H200: one request of 128 B, answered after 2.6 ns of the
 * link and 1,350 ns.
 * Source: specs of both parts; the queue: link.h. Differs: the GPU's memory answers as L2 if everything fits there,
 * else as DRAM; its bandwidth is unlimited. */
#pragma once

#include "models/zerocopy/launch_weights.h"
#include "models/zerocopy/link.h"
#include "trace/program/program.h"

struct host_reads_count {
    struct request_mix mix;
    uint64_t sectors; /* requested; mix spans holes too under rule line */
    uint64_t loads;   /* of warps, from all memory */
    double time_ns;   /* from the launch's start to its end */
    uint32_t sampled; /* multiprocessors that were simulated; 0: all */
    double error;     /* relative standard error of the requests; 0: none */
    bool taken;       /* from another launch */
};

struct host_reads {
    const struct gpu *gpu;
    const struct pcie *pcie;
    const struct program *program; /* must outlive */
    /* Of the program, or of the same one with less memory on the GPU; NULL: they are counted first. */
    const struct launch_weights *weights;
    const char *name;    /* in `weights`, of another program over the same memory; NULL: weights are the program's */
    uint64_t most_loads; /* about how many warp loads of a launch to simulate; 0: all */
    int threads;         /* at most; 0: one. The answer does not depend on it */
    /* Stops when the kernels that read host memory take longer than this together: sets *stopped and does not call
     * on_launch(). Does not depend on `threads`. 0: simulates all. */
    double stop_ns;
    bool *stopped;
    /* Simulates one of the launches that weigh the same, by `weights`: blocks, registers, loads, lines of all and of
     * the multiprocessor that has most; from 128 launches on, those within 1/64. Of the others each sixteenth is
     * simulated to see: all are, unless those take as long and request as much within a percent together. */
    bool alike;
    /* Room for what each launch takes; NULL: nobody asks again. again: it is there, on a platform of other numbers: of
     * 128 launches and more four are simulated, the others take as many times of what they took as one that took
     * nearly as long. same: those of the numbers that count here are the same, so all take what they took. */
    struct host_reads_count *took;
    bool again, same;
    /* Called for each launch, in order, when all are done. */
    int (*on_launch)(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err);
    void *ctx;
};

/* Simulates all launches in order. -1 with *err set. */
int host_reads_run(const struct host_reads *how, struct err *err);

/* How many of so many launches that took some time are simulated again. */
uint32_t host_reads_again(uint32_t launches);
