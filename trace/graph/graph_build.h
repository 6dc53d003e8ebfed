/* graph_build: from a list of edges to a graph.
 *
 *     struct graph_builder b = {0};
 *     graph_builder_add(&b, u, v, w, &err) ...
 *     graph_builder_finish(&b, vertices, flags, &graph, &err);     (also releases the builder)
 *
 * Edges are kept at 8 or 16 bytes each until the end; the graph is built by counting, in two passes over them. */
#pragma once

#include <stdio.h>

#include "trace/base/id_map.h"
#include "trace/graph/graph.h"
#include "trace/import/input_stream.h"

enum graph_build_flags {
    GRAPH_MIRROR = 1,     /* also store the reverse of every edge; of a self loop once */
    GRAPH_DROP_LOOPS = 2, /* leave out u -> u */
    GRAPH_SORT = 4,       /* sort each neighbour list by id (stable in order of addition where ids are equal) */
    GRAPH_UNIQUE = 8,     /* with GRAPH_SORT, without weights: keep one of equal neighbours */
};

struct graph_edge {
    uint32_t from, to;
};

struct graph_builder {
    struct graph_edge *edges;
    int32_t *weights; /* NULL until the first weighted edge */
    size_t count, cap, weight_cap;
};

/* Ids must be below 2^32 - 1. has_weight must be the same for every edge. */
int graph_builder_add(struct graph_builder *builder, uint32_t from, uint32_t to, bool has_weight, int32_t weight,
                      struct err *err);
void graph_builder_release(struct graph_builder *builder);

/* Build. vertices must exceed every id added. The builder is empty afterwards, also after a failure. */
int graph_builder_finish(struct graph_builder *builder, uint64_t vertices, int flags, struct graph *graph,
                         struct err *err);

/* Edges that a text names one by one, with what --undirected and --relabel make of them.
 *
 *     struct graph_list list = {.options = options};
 *     graph_list_edge(&list, u, v, weighted, w, &err) ...
 *     graph_list_finish(&list, &graph, &err);
 *     graph_list_release(&list);                             (always) */
struct graph_list {
    const struct graph_options *options;
    struct id_map labels; /* relabel: vertices by first appearance */
    struct graph_builder builder;
    uint64_t vertices; /* largest id + 1, without relabelling */
};

/* weighted must be the same for every edge. Ids from 2^32 - 2 on are an error unless relabelled. */
int graph_list_edge(struct graph_list *list, uint64_t from, uint64_t to, bool weighted, int32_t weight,
                    struct err *err);

/* The graph; lists keep the order of addition. An error where the ids are too far apart to be all of them vertices. */
int graph_list_finish(struct graph_list *list, struct graph *graph, struct err *err);
void graph_list_release(struct graph_list *list);

/* An error where a file's matrix has far more rows or columns than entries: each vertex takes 8 bytes. */
int graph_list_sides(uint64_t vertices, uint64_t entries, struct err *err);

/* --- numbers and edges in lines of text graph formats --- */

/* Take an unsigned decimal number at *p (blanks before it are skipped); it must end at a blank or the line's end.
 * Moves *p past it. False if there is none or it exceeds 2^64 - 1. */
bool graph_take_u64(const char **p, uint64_t *value);

/* The same, signed and 64-bit. */
bool graph_take_i64(const char **p, int64_t *value);

/* A real number, locale-free, finite. */
bool graph_take_real(const char **p, double *value);

/* Whether only blanks are left. */
bool graph_line_done(const char *p);

/* The next line in the first n bytes of a file that is no comment and not empty, from *at on, cut to the buffer; false
 * if there is none. */
bool graph_head_line(const unsigned char *head, size_t n, size_t *at, char *line, size_t size);

/* Call fn with each line, but for empty ones and those that begin with one of `comments`, until it fails; *err then
 * names the line. A zero byte in a line is an error. */
int graph_each_line(struct input_stream *source, const char *comments,
                    int (*fn)(void *ctx, char *line, struct err *err), void *ctx, struct err *err);

/* Write a line for each element, "source target [weight]"; the first vertex has the number `first`. */
void graph_text_edges(FILE *file, const struct graph *graph, uint64_t first, bool weighted);

/* --- arrays of little-endian values in binary graph files, read so that memory follows what the file really holds,
 * never what its header claims --- */

/* Exactly n bytes into buf; `what` and the byte offset stand in the message if the input ends early. */
int graph_read_bytes(struct input_stream *source, void *buf, size_t n, const char *what, struct err *err);

/* n u64 values into a new array *values. */
int graph_read_offsets(struct input_stream *source, uint64_t n, uint64_t **values, const char *what, struct err *err);

/* n ids of `width` (4 or 8) bytes, every `stride` bytes (a 4-byte weight follows each id where stride is width + 4),
 * into graph->targets; weights into graph->weights. Ids are checked against graph->vertices, at most 2^32. */
int graph_read_targets(struct input_stream *source, uint64_t n, int width, bool weighted, struct graph *graph,
                       struct err *err);

/* An error unless the input ends here. */
int graph_read_end(struct input_stream *source, struct err *err);

/* All whole numbers from 0 of one NumPy file in C order (graph_npy.c); *numbers is freed with free() in any case. */
int graph_npy_numbers(const char *path, uint64_t **numbers, size_t *n, struct err *err);

/* Write n values, all or nothing; *err names path. */
int graph_write_bytes(FILE *file, const char *path, const void *data, size_t n, struct err *err);
