/* graph_generate: graphs made from a recipe; the same parameters give the same graph on every machine.
 *
 * kron and urand: V = 2^scale vertices, V k draws, self loops dropped, both directions stored, neighbour lists sorted,
 * duplicates removed. mix() is SplitMix64's output function with its increment.
 * Source: the graphs of the H200 measurements (driver 580.159.04, 2026-11), whose FNV-1a fingerprints the test holds;
 * kron: Leskovec et al. 2010 with the Graph 500 probabilities 0.57, 0.19, 0.19, 0.05; vertices permuted.
 *
 * degrees: a stand-in for a graph known by its numbers: log-normal out-degrees (mean, sigma of the logarithm, cap),
 * targets uniform, or with probability `local` within `reach` vertices of the source. Self loops and duplicates stay,
 * as a multigraph. It matches a degree distribution, no more: not communities, not the number of BFS levels. */
#pragma once

#include "trace/base/random.h"
#include "trace/graph/graph.h"

/* scale 0..31, k 1..1024; memory is about 16 bytes V k while building, 8 bytes V k after. */
int graph_kron(int scale, int64_t k, uint64_t seed, struct graph *graph, struct err *err);
int graph_urand(int scale, int64_t k, uint64_t seed, struct graph *graph, struct err *err);

struct graph_degrees {
    uint64_t vertices; /* 1..2^31 */
    double mean;       /* out-degree, before rounding */
    double sigma;      /* of the logarithm of the degree */
    uint64_t cap;      /* largest degree; 0: none */
    double local;      /* share of targets near the source, 0..1 */
    uint64_t reach;    /* how near: |target - source| <= reach, wrapping */
    bool mirror;       /* match stubs: each edge stored in both directions, so that degrees hold for both ends */
    uint64_t seed;
};

int graph_from_degrees(const struct graph_degrees *degrees, struct graph *graph, struct err *err);

/* Weights lo..hi, uniform, for every element; equal for both directions of an edge. */
int graph_add_weights(struct graph *graph, int32_t lo, int32_t hi, uint64_t seed, struct err *err);
