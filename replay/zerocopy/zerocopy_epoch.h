/* zerocopy_epoch: how long an epoch of training can take, between two bounds, from the times of its stages.
 *
 * Each batch is sampled (CPU), its rows are gathered, and the network is trained on it; batches follow each other as in
 * a pipeline, so an epoch lasts as long as its slowest stage for each batch and the passage of the first. Who disturbs
 * whom is not known, so it is bounded:
 *   - rows gathered by a kernel on a share s < 1 of the multiprocessors (a context of its own): training keeps the rest
 *     and takes between its own time and 1 / (1 - s) of it;
 *   - by a kernel on the whole GPU: kernel and training take between the longer of the two (they overlap) and their
 * sum;
 *   - by the CPU: sampling and gathering likewise, since both are the CPU's.
 * Several GPUs share the batches, and the host: what its CPU and memory do for g of them at once, sampling and, where
 * the CPU gathers, gathering with its copy, takes between the time for one (there is room) and g times it.
 *
 * Worked example: 10 batches; sampler 1, gather 4, training 3 ms; one GPU. Whole GPU: 8 + 9 x 4 = 44 to 8 + 9 x 7 = 71
 * ms; a tenth of it: 8 + 9 x 4 = 44 to 8.33 + 9 x 4 = 44.33 ms; gathered by the CPU: 44 to 8 + 9 x 5 = 53 ms.
 *
 * Source: Min 2022 (docs/papers.md), sections 3.3.3 and 3.4.3 (pipeline; share of the GPU), figure 3.11 (a kernel on
 * the whole GPU blocks training), 3.4.4 (CPU and host memory are shared). Differs: bounds instead of a figure. */
#ifndef REPLAY_ZEROCOPY_ZEROCOPY_EPOCH_H
#define REPLAY_ZEROCOPY_ZEROCOPY_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

/* Times of a batch in ns; lo <= hi. */
struct epoch_stage {
    double lo, hi;
};

struct epoch {
    struct epoch_stage sampler, gather, training;
    bool cpu_gathers;
    double share;     /* else: of the GPU that gathers, above 0, at most 1 */
    uint64_t batches; /* of each GPU, at least 1 */
};

/* The epoch in ns. */
struct epoch_stage epoch_bounds(const struct epoch *epoch);

/* What the host takes for each of g GPUs at once, of what takes it this for one. */
struct epoch_stage epoch_on_host(struct epoch_stage one, uint64_t gpus);

#endif
