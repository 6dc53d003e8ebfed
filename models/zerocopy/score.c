#include "models/zerocopy/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/graph/graph_reorder.h"

enum { WEIGHTED_ROUNDS = 5, ROUNDS_MAX = 300 };

/* Change of a round, in sum over all vertices, at which the scores count as converged; score.h says why so. */
static const double tolerance = 1e-6;

const char *score_name(enum score_kind kind)
{
    static const char *const names[] = {"none", "degree", "reverse-pagerank", "weighted"};
    return names[kind];
}

/* One round from *score into *next, which change places. Returns the sum of changes. */
static double pull_round(const struct graph *graph, const uint64_t *in, double damping, double **score, double **next,
                         double *share)
{
    double *s = *score, *n = *next;
    double base = (1 - damping) / (double)graph->vertices;
#pragma omp parallel for schedule(static)
    for (uint64_t v = 0; v < graph->vertices; v++)
        share[v] = in[v] ? s[v] / (double)in[v] : 0;
#pragma omp parallel for schedule(dynamic, 4096)
    for (uint64_t v = 0; v < graph->vertices; v++) {
        double sum = 0;
        for (uint64_t i = graph->offsets[v]; i < graph->offsets[v + 1]; i++)
            sum += share[graph_target(graph, i)];
        n[v] = base + damping * sum;
    }
    double change = 0; /* summed in order, so that threads do not matter */
    for (uint64_t v = 0; v < graph->vertices; v++)
        change += fabs(n[v] - s[v]);
    *score = n;
    *next = s;
    return change;
}

static int initial(const struct graph *graph, enum score_kind kind, const struct score_options *options, double *score,
                   struct err *err)
{
    for (uint64_t v = 0; v < graph->vertices; v++)
        score[v] = 1.0 / (double)graph->vertices;
    if (kind != SCORE_WEIGHTED || !options->labelled || !options->labelled_count)
        return 0;
    double weight = (double)graph->vertices / (double)options->labelled_count;
    for (uint64_t i = 0; i < options->labelled_count; i++) {
        if (options->labelled[i] >= graph->vertices)
            return err_set(err, "labelled vertex %u; expected below %llu, the graph's vertices", options->labelled[i],
                           (unsigned long long)graph->vertices);
        score[options->labelled[i]] *= weight;
    }
    return 0;
}

static double *pagerank(const struct graph *graph, enum score_kind kind, const struct score_options *options,
                        struct err *err)
{
    double *score = mem_zalloc(graph->vertices, sizeof *score, err);
    double *next = score ? mem_zalloc(graph->vertices, sizeof *next, err) : NULL;
    double *share = next ? mem_zalloc(graph->vertices, sizeof *share, err) : NULL;
    uint64_t *in = share ? graph_in_degrees(graph, err) : NULL;
    int rc = in ? initial(graph, kind, options, score, err) : -1;
    int rounds = kind == SCORE_WEIGHTED ? (options->rounds ? options->rounds : WEIGHTED_ROUNDS) : ROUNDS_MAX;
    for (int r = 0; r < rounds && !rc; r++) {
        double change = pull_round(graph, in, options->damping, &score, &next, share);
        if (kind == SCORE_REVERSE_PAGERANK && change < tolerance)
            break;
    }
    free(next);
    free(share);
    free(in);
    if (rc) {
        free(score);
        return NULL;
    }
    return score;
}

double *score_vertices(const struct graph *graph, enum score_kind kind, const struct score_options *options,
                       struct err *err)
{
    if (kind != SCORE_DEGREE)
        return pagerank(graph, kind, options, err);
    double *score = mem_zalloc(graph->vertices, sizeof *score, err);
    for (uint64_t v = 0; score && v < graph->vertices; v++)
        score[v] = (double)graph_degree(graph, v);
    return score;
}

void score_shares(const struct graph *graph, const double *score, const uint32_t *rank, struct score_share *shares,
                  size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct score_share *share = &shares[i];
        *share = (struct score_share){.percent = share->percent,
                                      .vertices = (uint64_t)((double)graph->vertices * share->percent / 100)};
        for (uint64_t v = 0; v < graph->vertices; v++) {
            share->score_sum += score[v];
            if (rank[v] < share->vertices) {
                share->score += score[v];
                share->elements += graph_degree(graph, v);
            }
        }
    }
}
