/* host_reads: a program's reads of host memory, simulated: its warps on the multiprocessors of a GPU, each with its L1
 * (models/gpu/sms.h), and behind them two places that answer: memory of the GPU, after a fixed time, and host memory,
 * over the link.
 *
 * The link is a queue that serves one request after the other in the order in which they come: each takes the time that
 * it adds to those around it (wire, tags, host lines, joined by sharpness: link.h) and is answered load_ns later.
 * So what a lone load takes is load_ns, what a launch takes is the requests' time where there are enough warps, and
 * both and everything in between follow where there are not. Lines of labels, offsets and weights take their places in
 * the same L1 as the lists. A sector that is on its way is asked for once by each warp, and by others only once its
 * miss has left L1, which takes l1_cycles: neighbouring warps of an H200 that loop over an array 36 B behind a line's
 * start share no sector (33.7 to 36.7 GB/s; sharing, 42.6), warps that have just begun, on short lists side by side,
 * share all (537,835 sectors counted; sharing none, 591,654). In the simulation the former are 512 to 1,023 cycles
 * apart, the latter up to 8. That was seen of host memory alone: a sector of the GPU's own memory is asked for once. A
 * request is what one load asks for of one line, by the platform's rule (warp.h). Stores to host memory are posted:
 * answered at once and not counted. A launch of more loads than asked for is sampled: four groups of its
 * multiprocessors (launch_weights.h), each with the share of the link that its lines are of all, one after
 * the other; one of which nothing is read from the host as one group. Counts are the mean of the groups', each divided
 * by its share; the groups' differences give the standard error; the time is the longest group's, and the block with
 * the longest chain of loads is in one of them. Worked example, one warp that reads 4 B a lane of one line, H200: one
 * request of 128 B, answered after 2.6 ns of the link and 1,350 ns. Source: specs of both parts; the queue: link.h.
 * Differs: memory of the GPU answers as its L2 does if all of it that the program has fits there, else as DRAM does,
 * with any bandwidth. */
#ifndef MODELS_ZEROCOPY_HOST_READS_H
#define MODELS_ZEROCOPY_HOST_READS_H

#include "models/gpu/gpu.h"
#include "models/zerocopy/launch_weights.h"
#include "models/zerocopy/link.h"
#include "trace/program/program.h"

struct host_reads_count {
    struct request_mix mix;
    uint64_t sectors; /* asked for; mix spans holes too under rule line */
    uint64_t loads;   /* of all memory, by warps */
    double time_ns;   /* from the launch's start to its end */
    uint32_t sampled; /* multiprocessors that were simulated; 0: all */
    double error;     /* relative standard error of the requests; 0: none */
};

struct host_reads {
    const struct gpu *gpu;
    const struct pcie *pcie;
    const struct program *program; /* must outlive */
    /* Of it, or of one that keeps less on the GPU and is the same else; NULL: it is gone over for them. */
    const struct launch_weights *weights;
    const char *name;    /* of weights: the program is another one over the same memory, called that; NULL: it is not */
    uint64_t most_loads; /* of warps that are simulated of a launch, about; 0: all */
    int threads;         /* that share the launches, at most; 0: one. The answer is the same */
    /* If the kernels that read host memory together take longer than most_ns, > 0, *stopped is set, what is left is not
     * simulated, and `launch` is called of none: all launches together take longer too. The same on any number of
     * threads. 0: all is simulated. */
    double most_ns;
    bool *stopped;
    /* Of each launch, in order, when all are done. */
    int (*launch)(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err);
    void *ctx;
};

/* All launches in order. -1 with *err set. */
int host_reads_run(const struct host_reads *how, struct err *err);

#endif
