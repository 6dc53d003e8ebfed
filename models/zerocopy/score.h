/* score: how likely a vertex's row is to be asked for, from the graph alone; rows of high score are kept near the GPU.
 *
 * degree: out-degree. reverse-pagerank: each round a vertex pulls score / in-degree along its out-edges; run until the
 * scores change by less than 1e-9 in sum, at most 100 rounds. weighted: the same from an initial score of 1/N, times
 * N / labelled for labelled vertices, five rounds, not to convergence.
 *
 * One round: s'[v] = (1 - d) / N + d * sum over out-neighbours u of v of s[u] / in[u]. Vertices of in-degree 0 are
 * never pulled; the printed division by it is guarded (0).
 *
 * Worked example (score_test.c): 0 -> 1, 0 -> 2, 1 -> 2, d = 0.5, one round from 1/3 each: in = 0, 1, 2;
 * s'[0] = 1/6 + 0.5 (1/3 + 1/6) = 5/12, s'[1] = 1/6 + 0.5 x 1/6 = 1/4, s'[2] = 1/6.
 *
 * Cost: 104.9 M elements (kron, scale 22, k 13) on two shared cores: degree 0.02 s, weighted 3.7 s, reverse-pagerank
 * 25 to 34 s: it takes all 100 rounds, of 0.3 s each.
 *
 * Source: Min 2022 (docs/papers.md), section 4.2.1 and algorithm 2. Differs: damping is not printed; 0.85 as in
 * PageRank. */
#ifndef MODELS_ZEROCOPY_SCORE_H
#define MODELS_ZEROCOPY_SCORE_H

#include "trace/graph.h"

enum score_kind { SCORE_NONE, SCORE_DEGREE, SCORE_REVERSE_PAGERANK, SCORE_WEIGHTED, SCORE_KINDS };
#define SCORE_NAMES "none|degree|reverse-pagerank|weighted"

/* The usual one (Brin and Page 1998); the dissertation prints none. */
#define SCORE_DAMPING 0.85

struct score_options {
    double damping;           /* 0..1 */
    int rounds;               /* of weighted; 0: five */
    const uint32_t *labelled; /* vertices that training starts from, for weighted; NULL: all */
    uint64_t labelled_count;
};

/* Scores of all vertices, freed with free(). NULL with *err set on failure. Parallel; the result does not depend on the
 * number of threads. */
double *score_vertices(const struct graph *graph, enum score_kind kind, const struct score_options *options,
                       struct err *err);

/* What the best `percent` of the vertices hold. */
struct score_share {
    double percent;    /* 0..100, set by the caller */
    uint64_t vertices; /* how many those are, rounded down: what local_pct=percent keeps near the GPU */
    uint64_t elements; /* in their lists */
    double score;      /* sum of theirs */
    double score_sum;  /* of all vertices */
};

/* Fill n shares. rank: graph_rank()'s of these scores. */
void score_shares(const struct graph *graph, const double *score, const uint32_t *rank, struct score_share *shares,
                  size_t n);

const char *score_name(enum score_kind kind);

#endif
