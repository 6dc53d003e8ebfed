/* graph_sample: the row stream of k-hop neighbour sampling, as graph networks are trained.
 *
 * A batch starts from `seeds` labelled vertices. At each hop every vertex known so far samples up to fan_outs[h] of its
 * in-neighbours without replacement, and they become known; the batch asks for the row of every known vertex once, in
 * the order in which it became known. With all = true, every sampled neighbour is an access, known or not.
 *
 * Source: Min 2022 (docs/papers.md), section 4.2.1; DGL's blocks, in which known vertices sample again at each hop. The
 * list of fan-outs is the paper's, outermost first: fan_outs of (10,25) sample 25 around the seeds, then 10. */
#pragma once

#include "trace/graph/graph.h"

enum { GRAPH_SAMPLE_HOPS = 16 };

struct graph_sample {
    int fan_outs[GRAPH_SAMPLE_HOPS]; /* as written; the last is sampled around the seeds */
    int hops;
    uint64_t seeds; /* of a batch */
    uint64_t batches;
    bool all;                 /* count repeated accesses too */
    uint64_t seed;            /* of the random choices */
    const uint32_t *labelled; /* seeds are drawn from these, without replacement until all were used */
    uint64_t labelled_count;
};

/* "[10,25]" or "10,25" into fan_outs. */
int graph_sample_fan_outs(struct graph_sample *sample, const char *text, struct err *err);

/* The rows asked for, one batch after another; ends[b] (may be NULL) gets where batch b ends in *rows, for each batch.
 * in: the graph of in-neighbours (graph_transpose(), or the graph itself where it is symmetric). free() *rows. */
int graph_sample_rows(const struct graph *in, const struct graph_sample *sample, uint64_t **rows, uint64_t *count,
                      uint64_t *ends, struct err *err);

/* The labelled vertices: `percent` of them, drawn evenly; or, clustered, all of every block of vertices / 64 that is
 * needed (a community's vertices have neighbouring ids). *labelled is freed with free(). */
int graph_sample_labels(uint64_t vertices, double percent, bool clustered, uint64_t seed, uint32_t **labelled,
                        uint64_t *count, struct err *err);

/* A graph of `communities` blocks of consecutive ids: k draws per vertex, a share `inside` of them in the own block
 * (skewed: towards the block's first vertices), the rest anywhere; both directions, sorted, no loops, no duplicates. */
struct graph_communities {
    int scale; /* 2^scale vertices */
    int64_t k;
    int64_t communities;
    double inside; /* 0..1 */
    bool skewed;
    uint64_t seed;
};
int graph_from_communities(const struct graph_communities *recipe, struct graph *graph, struct err *err);
