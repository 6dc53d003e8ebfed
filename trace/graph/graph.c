#include "trace/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/sorted.h"
#include "trace/import/input_stream.h"

/* What has a signature first. */
const struct graph_format *const graph_formats[] = {
    &graph_bel, &graph_mtx, &graph_npy, &graph_npz, &graph_sg, &graph_wsg,
    &graph_gr,  &graph_csv, &graph_el,  &graph_wel, NULL,
};

void graph_release(struct graph *graph)
{
    free(graph->offsets);
    free(graph->targets);
    free(graph->weights);
    memset(graph, 0, sizeof *graph);
}

uint64_t graph_hub(const struct graph *graph)
{
    uint64_t best = 0, degree = 0;
    for (uint64_t v = 0; v < graph->vertices; v++)
        if (graph_degree(graph, v) > degree) {
            degree = graph_degree(graph, v);
            best = v;
        }
    return best;
}

static int check_targets(const struct graph *graph, struct err *err)
{
    for (uint64_t i = 0; i < graph->elements; i++)
        if (graph_target(graph, i) >= graph->vertices)
            return err_set(err, "element %llu names vertex %llu; expected below %llu", (unsigned long long)i,
                           (unsigned long long)graph_target(graph, i), (unsigned long long)graph->vertices);
    return 0;
}

int graph_check(const struct graph *graph, struct err *err)
{
    if (graph->offsets[0] != 0)
        return err_set(err, "the first offset is %llu; expected 0", (unsigned long long)graph->offsets[0]);
    for (uint64_t v = 0; v < graph->vertices; v++)
        if (graph->offsets[v + 1] < graph->offsets[v])
            return err_set(err, "offset %llu is %llu, below the one before it (%llu)", (unsigned long long)(v + 1),
                           (unsigned long long)graph->offsets[v + 1], (unsigned long long)graph->offsets[v]);
    if (graph->offsets[graph->vertices] != graph->elements)
        return err_set(err, "the last offset is %llu; expected the number of elements, %llu",
                       (unsigned long long)graph->offsets[graph->vertices], (unsigned long long)graph->elements);
    return check_targets(graph, err);
}

int graph_format_files(const struct graph_format *format, const char *path, int (*fn)(void *ctx, const char *file),
                       void *ctx)
{
    const char *const *parts = format->parts;
    size_t n = strlen(path), ends;
    int rc = 0;
    if (!parts)
        return fn(ctx, path);
    for (size_t i = 0; parts[i]; i++)
        if (n >= (ends = strlen(parts[i])) && strcmp(path + n - ends, parts[i]) == 0)
            n -= ends;
    for (size_t i = 0; parts[i] && !rc; i++) {
        char file[4096];
        (void)snprintf(file, sizeof file, "%.*s%s", (int)n, path, parts[i]);
        rc = fn(ctx, file);
    }
    return rc;
}

const struct graph_format *graph_format_by_suffix(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; graph_formats[i]; i++) {
        size_t m = strlen(graph_formats[i]->suffix);
        if (n > m && strcmp(path + n - m, graph_formats[i]->suffix) == 0)
            return graph_formats[i];
    }
    return NULL;
}

bool graph_ends_in(const char *path, const char *suffix)
{
    static const char *const packings[] = {"", ".xz", ".gz", ".zst"};
    size_t n = strlen(path), m = strlen(suffix);
    for (size_t i = 0; i < 4; i++) {
        size_t p = strlen(packings[i]);
        if (n > m + p && memcmp(path + n - m - p, suffix, m) == 0 && strcmp(path + n - p, packings[i]) == 0)
            return true;
    }
    return false;
}

static const struct graph_format *find_by_content(const char *path, struct err *err)
{
    unsigned char head[GRAPH_HEAD];
    size_t n = 0;
    struct err why = {""};
    struct input_stream *source = input_stream_open(path, &why);
    if (source) {
        const unsigned char *data;
        int rc = input_stream_peek(source, GRAPH_HEAD, &data, &n, err);
        if (!rc)
            memcpy(head, data, n);
        input_stream_close(source);
        if (rc) {
            (void)err_at(err, "%s", path);
            return NULL;
        }
        (void)err_set(&why,
                      "%s: no graph format recognises it; expected a GAP .sg or .wsg, an EMOGI .bel, a DIMACS "
                      ".gr, a Matrix Market file, NumPy's .npy or .npz, a CSV or an edge list",
                      path);
    }
    for (size_t i = 0; graph_formats[i]; i++)
        if (graph_formats[i]->probe(path, head, n))
            return graph_formats[i];
    (void)err_set(err, "%s", why.msg);
    return NULL;
}

static int parse_file(const char *path, const struct graph_format *format, const struct graph_options *options,
                      struct graph *graph, struct err *err)
{
    struct input_stream *source = input_stream_open(path, err);
    if (!source)
        return -1;
    int rc = format->parse(format, source, options, graph, err);
    input_stream_close(source);
    return rc ? err_at(err, "%s", path) : 0;
}

int graph_load(const char *path, const struct graph_format *format, const struct graph_options *options,
               struct graph *graph, struct err *err)
{
    static const struct graph_options defaults;
    memset(graph, 0, sizeof *graph);
    if (!format)
        format = find_by_content(path, err);
    if (!format)
        return -1;
    options = options ? options : &defaults;
    if (format->read ? format->read(path, options, graph, err) : parse_file(path, format, options, graph, err)) {
        graph_release(graph);
        return -1;
    }
    return 0;
}
