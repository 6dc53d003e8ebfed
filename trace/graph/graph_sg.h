/* graph_sg: the GAP Benchmark's serialised graphs, .sg and, weighted, .wsg.
 *
 * Packed, little-endian: u8 directed, i64 E (both directions of an undirected edge), i64 N, i64 offsets[N + 1] (from
 * byte 17: unaligned), E elements (.sg: i32 id; .wsg: i32 id, i32 weight); a directed graph repeats offsets and
 * elements for the incoming edges, which are checked and left out. The two formats differ in the file's size alone.
 * Source: gapbs b5e3e19, src/writer.h and src/reader.h. */
#ifndef TRACE_GRAPH_GRAPH_SG_H
#define TRACE_GRAPH_GRAPH_SG_H

#include "trace/graph/graph.h"

extern const struct graph_format graph_sg, graph_wsg;

struct source;
int graph_sg_parse(struct source *source, bool weighted, struct graph *graph, struct err *err);

#endif
