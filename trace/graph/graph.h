/* graph: a directed graph in compressed sparse row form, in memory.
 *
 * Vertex v's neighbours are targets[offsets[v]] up to targets[offsets[v + 1]]; ids are 32-bit. Files are read and
 * written through graph_formats[]: one file per format in trace/graph/graph_X.c. Sizes in files are untrusted: they are
 * checked against the file before memory is taken. Built by one thread; then read-only and shared. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

struct graph {
    uint64_t vertices;
    uint64_t elements; /* stored directions: both of an undirected edge */
    uint64_t *offsets; /* vertices + 1 values, non-decreasing, offsets[0] = 0, offsets[vertices] = elements */
    uint32_t *targets; /* elements values below vertices */
    int32_t *weights;  /* elements values, or NULL */
    bool symmetric;    /* known to hold the reverse of every element */
};

static inline uint64_t graph_target(const struct graph *graph, uint64_t i)
{
    return graph->targets[i];
}

static inline uint64_t graph_degree(const struct graph *graph, uint64_t v)
{
    return graph->offsets[v + 1] - graph->offsets[v];
}

void graph_release(struct graph *graph);

/* The first vertex of the largest out-degree; 0 for a graph without vertices. */
uint64_t graph_hub(const struct graph *graph);

/* Check the invariants above; *err names the first vertex or element that breaks one. */
int graph_check(const struct graph *graph, struct err *err);

/* What text formats leave open; binary formats ignore all of it. */
struct graph_options {
    bool undirected; /* edge lists: store both directions of every line */
    bool relabel;    /* edge lists: number the vertices by first appearance, so that ids may have holes */
};

/* Bytes of a file's start that a format sees to know it. */
enum { GRAPH_HEAD = 4096 };

struct input_stream;

/* A file format of graphs. */
struct graph_format {
    const char *name;    /* "bel" is trace/graph/graph_bel.c */
    const char *suffix;  /* written files should end in it: ".bel" */
    const char *summary; /* one line */
    /* Whether `path` (its first n decompressed bytes are `head`, GRAPH_HEAD of them unless the file is shorter; n is 0
     * where no such file exists) is of this format. */
    bool (*probe)(const char *path, const unsigned char *head, size_t n);
    int (*read)(const char *path, const struct graph_options *options, struct graph *graph, struct err *err);
    /* What an open file holds, where `read` is NULL. */
    int (*parse)(const struct graph_format *format, struct input_stream *source, const struct graph_options *options,
                 struct graph *graph, struct err *err);
    /* Write, whole or not at all; path is what the user gave. Existing files are an error unless `replace`. NULL: the
     * format is only read. */
    int (*write)(const struct graph_format *format, const char *path, bool replace, const struct graph *graph,
                 struct err *err);
    /* The endings of the files that `path` stands for, ended by NULL; NULL: `path` itself is the file. */
    const char *const *parts;
};

extern const struct graph_format graph_bel, graph_csv, graph_el, graph_gr, graph_mtx, graph_npy, graph_npz, graph_sg,
    graph_wel, graph_wsg;
/* Probed in this order, ended by NULL; the first that knows the file reads it; a new one is its file in this folder, a
 * name above and one in graph.c. */
extern const struct graph_format *const graph_formats[];

/* Whether `path` ends in `suffix`, or in it and the ending of a packer (.xz, .gz, .zst). */
bool graph_ends_in(const char *path, const char *suffix);

/* The format whose suffix `path` ends in, or NULL. */
const struct graph_format *graph_format_by_suffix(const char *path);

/* Call fn with the name of each file that `path`, or one of these files, stands for in this format, until it returns
 * something else than 0: that, or 0. A format of one file: `path`. The name is fn's only while it runs. */
int graph_format_files(const struct graph_format *format, const char *path, int (*fn)(void *ctx, const char *file),
                       void *ctx);

/* Read a graph; the format is found by content unless `format` is given. options may be NULL. On failure *graph is
 * empty and *err says what is wrong and where. */
int graph_load(const char *path, const struct graph_format *format, const struct graph_options *options,
               struct graph *graph, struct err *err);

/* The parts of a .bel graph from open sources, each read to its end; for fuzzing. `weights` may be NULL. */
int graph_bel_parse(struct input_stream *col, struct input_stream *dst, struct input_stream *weights,
                    struct graph *graph, struct err *err);
