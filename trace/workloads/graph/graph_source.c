#include "trace/workloads/graph/graph_source.h"

#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/graph/graph_generate.h"
#include "trace/workloads/workload.h"

enum { NEAR = 500 }; /* reach of a near target: a web site's pages lie together */

/* Published numbers of the stand-ins; see the header. */
static const struct stand_in {
    const char *name;
    struct graph_degrees degrees;
} stand_ins[] = {
    {"fs", {.mean = 55, .sigma = 1.6, .cap = 5214, .reach = NEAR, .mirror = true}},
    {"ml", {.mean = 222, .sigma = 1.5, .reach = NEAR, .mirror = true}},
    {"sk", {.mean = 38.5, .sigma = 1.2, .local = 0.9, .reach = NEAR}},
    {"uk5", {.mean = 35.3, .sigma = 1.2, .local = 0.9, .reach = NEAR}},
};

int graph_source_open(const struct graph_source *source, struct graph *graph, struct err *err)
{
    const char *name = source->graph;
    uint64_t seed = (uint64_t)source->seed;
    if (strcmp(name, "kron") == 0)
        return graph_kron((int)source->scale, source->k, seed, graph, err);
    if (strcmp(name, "urand") == 0)
        return graph_urand((int)source->scale, source->k, seed, graph, err);
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        if (strcmp(name, stand_ins[i].name) == 0) {
            struct graph_degrees d = stand_ins[i].degrees;
            d.vertices = 1ULL << source->scale;
            d.seed = seed;
            return graph_from_degrees(&d, graph, err);
        }
    return graph_load(name, NULL, NULL, graph, err);
}

/* --- graphs as workloads of their own: synth kron,scale=20 -o NAME.bel --- */

static void close_graph(void *state)
{
    graph_release(state);
    free(state);
}

static void *open_named(const char *name, const void *params, struct err *err)
{
    struct graph_source source = *(const struct graph_source *)params;
    struct graph *graph = mem_zalloc(1, sizeof *graph, err);
    source.graph = name;
    if (!graph || graph_source_open(&source, graph, err) == 0)
        return graph;
    free(graph);
    return NULL;
}

#define GRAPH_SIZE_ROWS                                                                                                \
    PARAM_INT_ROW(graph_source, scale, "", 0, 31, 18, "log2 of the vertices"),                                         \
        PARAM_INT_ROW(graph_source, seed, "", 0, 0x1p53, 1, "of the generator")

static const struct param drawn_params[] = {
    GRAPH_SIZE_ROWS, PARAM_INT_ROW(graph_source, k, "", 1, 1024, 16, "edges drawn per vertex"), {0}};
static const struct param stand_in_params[] = {GRAPH_SIZE_ROWS, {0}};

#define GRAPH_WORKLOAD(NAME, SUMMARY, SOURCE, PARAMS)                                                                  \
    WORKLOAD_NEW(workload_##NAME, graph_source, #NAME, SUMMARY, SOURCE, PARAMS, open_named, #NAME, close_graph,        \
                 .produces = WORKLOAD_GRAPH)

GRAPH_WORKLOAD(kron, "Kronecker graph, 2^scale vertices, written to a graph file",
               "Graph 500 probabilities; recipe of the H200 measurements, 2026-11", drawn_params);
GRAPH_WORKLOAD(urand, "uniform random graph, 2^scale vertices, written to a graph file",
               "recipe of the H200 measurements, 2026-11", drawn_params);
GRAPH_WORKLOAD(fs, "stand-in for Friendster by degree distribution", "dissertation, table 2.2", stand_in_params);
GRAPH_WORKLOAD(ml, "stand-in for MOLIERE_2016 by degree distribution", "dissertation, table 2.2", stand_in_params);
GRAPH_WORKLOAD(sk, "stand-in for sk-2005 by degree distribution", "dissertation, table 2.2", stand_in_params);
GRAPH_WORKLOAD(uk5, "stand-in for uk-2007-05 by degree distribution", "dissertation, table 2.2", stand_in_params);
