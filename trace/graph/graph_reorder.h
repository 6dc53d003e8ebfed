/* graph_reorder: renumber the vertices of a graph by rank; parallel, exact.
 *
 * A mapping gives each vertex its new number. The renumbered graph has the same edges under the mapping: vertex
 * map[v]'s list holds map[t] for each t of v's list, in the same order. */
#pragma once

#include "trace/graph/graph.h"

/* map[v] = place of v when vertices are ordered by descending score, equal scores by id. Scores must not be NaN.
 * graph->vertices values. NULL with *err set on failure; freed with free(). */
uint32_t *graph_rank(const double *score, uint64_t vertices, struct err *err);

/* Renumber into *out. map must be a permutation (checked). Graphs of more than 2^32 - 1 vertices are refused. */
int graph_reorder(const struct graph *graph, const uint32_t *map, struct graph *out, struct err *err);

/* The graph of reversed elements: v's list holds every u that lists v, ascending. A symmetric graph equals its own. */
int graph_transpose(const struct graph *graph, struct graph *out, struct err *err);

/* How many lists each vertex stands in. `vertices` values, freed with free(). */
uint64_t *graph_in_degrees(const struct graph *graph, struct err *err);
