/* zerocopy_tier: hot rows kept near the GPU, and the training pipeline around a gather.
 *
 * Rows that residency places in the GPU's own or a peer's memory make no request. Patterns are given them too and ask
 * residency for each, since the lanes that copy a row keep their places in the warps. Their bytes move meanwhile, so a
 * launch takes the longest of the link, the peers and the own memory.
 * Several GPUs share host memory: each gets its part of the platform's host bandwidth. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "models/gpu/gpu.h"
#include "models/zerocopy/link.h"
#include "models/zerocopy/pattern.h"
#include "models/zerocopy/score.h"
#include "replay/run/outcome.h"
#include "trace/workloads/scan.h"

/* Behind the scores: by how often another run asked for a row (scan_setup.recorded); then caches (row_cache.h). */
enum { TIER_RECORDED = SCORE_KINDS, TIER_CACHES };

/* Part of the engine's settings; rows of its table by ZEROCOPY_TIER_ROWS(S), where S holds a `struct tier_settings
 * tier`. */
struct tier_settings {
    int64_t resident; /* enum score_kind, or TIER_RECORDED */
    double local_pct, shared_pct;
    int64_t gpus, layout;
    double sampler_ns, consumer_ns;       /* stages of the pipeline beside the gather, for each batch; 0: none */
    double sampler_hi_ns, consumer_hi_ns; /* overlap=bounds: their upper ends; 0: no range */
    int64_t batches;                      /* of the epoch; 0: those of the workload */
    int64_t overlap;                      /* choice: pipeline, bounds */
};

#define TIER_ROW(S, F, type, unit, lo, hi, value, help)                                                                \
    {                                                                                                                  \
#F, type, unit, lo, hi, value, offsetof(struct S, tier.F), help, NULL                                          \
    }
#define ZEROCOPY_TIER_ROWS(S)                                                                                          \
    TIER_ROW(S, resident, PARAM_CHOICE, "none|degree|reverse-pagerank|weighted|recorded|lru|lfu|counted", 0, 0, 0,     \
             "rows by this score, or by accesses recorded in another run, are near the GPU; caches of rows; counted: " \
             "the rows that this run asks for most"),                                                                  \
        TIER_ROW(S, local_pct, PARAM_REAL, "%", 0, 100, 10, "of the rows in each GPU's own memory"),                   \
        TIER_ROW(S, shared_pct, PARAM_REAL, "%", 0, 100, 0, "of the rows spread over the GPUs"),                       \
        TIER_ROW(S, gpus, PARAM_INT, "", 1, 1024, 1, "that share the rows and host memory"),                           \
        TIER_ROW(S, layout, PARAM_CHOICE, "interleave|block", 0, 0, 0, "of the shared rows"),                          \
        TIER_ROW(S, sampler_ns, PARAM_REAL, "ns", 0, 1e15, 0, "the sampler's time for a batch"),                       \
        TIER_ROW(S, consumer_ns, PARAM_REAL, "ns", 0, 1e15, 0, "the consumer's (training) time for a batch"),          \
        TIER_ROW(S, sampler_hi_ns, PARAM_REAL, "ns", 0, 1e15, 0, "overlap=bounds: at most; 0: sampler_ns"),            \
        TIER_ROW(S, consumer_hi_ns, PARAM_REAL, "ns", 0, 1e15, 0, "overlap=bounds: at most; 0: consumer_ns"),          \
        TIER_ROW(S, overlap, PARAM_CHOICE, "pipeline|bounds", 0, 0, 0,                                                 \
                 "pipeline: no stage disturbs another; bounds: epoch_ns between the ends of what they may"),           \
        TIER_ROW(S, batches, PARAM_INT, "", 0, 1e12, 0, "of an epoch; 0: those of the workload")

struct tier {
    const struct tier_settings *settings;
    struct residency residency;
    uint32_t *rank;
    uint64_t row_elements;
    double row_bytes;
    double local_bytes, peer_bytes;             /* of the launch that is going on */
    uint64_t lookups;                           /* likewise */
    double local_total, peer_total, link_total; /* bytes of rows */
    uint64_t batches;
};

/* Rank the rows, or go over all lookups for a cache, if anything is to be resident. *err if the workload has no graph
 * to rank by, or the percents exceed 100. */
int tier_open(struct tier *tier, const struct tier_settings *settings, const struct scan_setup *setup,
              const struct scan_ops *ops, void *state, struct err *err);

/* The rows of all lookups in their order; *rows is freed with free() in any case. */
int tier_rows(const struct scan_setup *setup, const struct scan_ops *ops, void *state, uint64_t **rows, size_t *n,
              struct err *err);
void tier_close(struct tier *tier);

/* Serve what is resident of a batch. Returns its elements. */
double tier_serve(struct tier *tier, const struct scan *scans, size_t n);

/* Time of a launch whose link part takes link_ns; the bytes served are cleared by tier_launch_end(). */
double tier_launch_ns(const struct tier *tier, const struct gpu *gpu, const struct pcie *pcie, double link_ns);
void tier_launch_end(struct tier *tier);

/* How a policy gathers, for epoch_ns of overlap=bounds. */
struct tier_gather {
    bool by_cpu;
    double share; /* of the multiprocessors, if by a kernel */
};

/* hit_ratio, local_bytes, peer_bytes, epoch_ns into *out, whose time_ns stands. */
void tier_metrics(const struct tier *tier, const struct tier_gather *gather, struct outcome *out);

/* How long an epoch of training can take, between two bounds, from the times of its stages.
 *
 * Each batch is sampled (CPU), its rows are gathered, and the network is trained on it; batches follow each other as in
 * a pipeline, so an epoch lasts as long as its slowest stage for each batch and the passage of the first. Who disturbs
 * whom is not known, so it is bounded:
 *   - rows gathered by a kernel on a share s < 1 of the multiprocessors (a context of its own): training keeps the rest
 *     and takes between its own time and 1 / (1 - s) of it;
 *   - by a kernel on the whole GPU: kernel and training take between the longer of the two (they overlap) and
 *     their sum;
 *   - by the CPU: sampling and gathering likewise, since both are the CPU's.
 * Several GPUs share the batches, and the host: what its CPU and memory do for g of them at once, sampling and, where
 * the CPU gathers, gathering with its copy, takes between the time for one (there is room) and g times it.
 *
 * Worked example: 10 batches; sampler 1, gather 4, training 3 ms; one GPU. Whole GPU: 8 + 9 x 4 = 44 to 8 + 9 x 7 = 71
 * ms; a tenth of it: 8 + 9 x 4 = 44 to 8.33 + 9 x 4 = 44.33 ms; gathered by the CPU: 44 to 8 + 9 x 5 = 53 ms.
 *
 * Source: Min 2022 (docs/papers.md), sections 3.3.3 and 3.4.3 (pipeline; share of the GPU), figure 3.11 (a kernel on
 * the whole GPU blocks training), 3.4.4 (CPU and host memory are shared). Differs: bounds instead of a figure. */

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
