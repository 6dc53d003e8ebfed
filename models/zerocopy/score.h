/* score: how likely a vertex's row is to be asked for, from the graph alone; rows of high score are kept near the GPU.
 *
 * degree: out-degree. reverse-pagerank: each round a vertex pulls score / in-degree along its out-edges:
 * s'[v] = (1 - d) / N + d * sum over out-neighbours u of v of s[u] / in[u], 0 for the division by an in-degree of 0,
 * until a round changes the scores by less than 1e-6 in sum. weighted: the same from 1/N, times N / labelled for
 * labelled vertices, five rounds. 1e-6 is enough: a round shrinks the distance to the limit by d, so less than
 * d / (1 - d) x 1e-6 of a sum of 1 is left; against 1e-12 (scale 18, k 13) the best 1, 5, 10 and 25 % of kron are the
 * same vertices, of urand one in 2,621 and in 13,107 differs.
 * Worked example (score_test.c): 0 -> 1, 0 -> 2, 1 -> 2, d = 0.5, one round from 1/3 each: in = 0, 1, 2;
 * s'[0] = 1/6 + 0.5 (1/3 + 1/6) = 5/12, s'[1] = 1/6 + 0.5 x 1/6 = 1/4, s'[2] = 1/6.
 * Source: Min 2022 (docs/papers.md), section 4.2.1, algorithm 2. Differs: damping is not printed; 0.85 as PageRank. */
#pragma once

#include "trace/graph/graph.h"

enum score_kind { SCORE_NONE, SCORE_DEGREE, SCORE_REVERSE_PAGERANK, SCORE_WEIGHTED, SCORE_KINDS };

/* The usual one (Brin and Page 1998); the dissertation prints none. */
#define SCORE_DAMPING 0.85

struct score_options {
    double damping;           /* 0..1 */
    int rounds;               /* of weighted; 0: five */
    const uint32_t *labelled; /* vertices that training starts from, for weighted; NULL: all */
    uint64_t labelled_count;
};

/* Scores of all vertices, freed with free(); the same on any number of threads. NULL with *err set on failure. */
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
