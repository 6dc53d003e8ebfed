/* graph_source: where a workload's graph comes from: a file, a recipe, or a stand-in for a graph known by its numbers.
 *
 * Stand-ins match the published degree distribution and the share of near targets, scaled to 2^scale vertices:
 * fs (Friendster: mean 55, sigma 1.6, at most 5,214), ml (MOLIERE_2016: 222, 1.5), sk and uk5 (sk-2005: 38.5,
 * uk-2007-05: 35.3; sigma 1.2, directed, nine of ten targets near). Means: dissertation, table 2.2; widths are
 * estimates, chosen before any result (aligned amplification does not depend on them, 128 B shares by 0.02). */
#pragma once

#include "trace/base/err.h"
#include "trace/graph/graph.h"

struct graph_source {
    const char *graph; /* kron, urand, fs, ml, sk, uk5, or a path */
    int64_t scale, k, seed;
};

/* Rows of a workload's table whose params begin with a struct graph_source. */
#define GRAPH_SOURCE_ROWS                                                                                              \
    PARAM_TEXT_ROW(graph_source, graph, "kron", "a file, or kron, urand, fs, ml, sk, uk5"),                            \
        PARAM_INT_ROW(graph_source, scale, "", 0, 31, 18, "generated graphs: log2 of the vertices"),                   \
        PARAM_INT_ROW(graph_source, k, "", 1, 1024, 16, "kron, urand: edges drawn per vertex"),                        \
        PARAM_INT_ROW(graph_source, seed, "", 0, 0x1p53, 1, "of the generators")

int graph_source_open(const struct graph_source *source, struct graph *graph, struct err *err);
