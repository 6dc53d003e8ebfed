/* graph_bel: EMOGI's binary CSR, files NAME.bel.col (offsets), NAME.bel.dst (elements) and, if weighted, NAME.bel.val.
 *
 * Each file: u64 number of values, u64 placeholder (ignored), then the values, little-endian: u64 offsets (vertices + 1
 * of them, the first 0), u64 element ids, 4-byte weights. Named by the common prefix NAME.bel, or by one of the files.
 * Source: EMOGI 382dbcc, the loading code of its traversal programs. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/graph/graph.h"
#include "trace/graph/graph_build.h"
#include "trace/import/input_stream.h"
#include "trace/store/output.h"

static const char *const packings[] = {"", ".xz", ".gz", ".zst"};

/* The length of "NAME.bel" in a path that is the prefix or one of its files, 0 if it is neither. */
enum { PARTS = 3 };
static const char *const part_names[PARTS + 1] = {".col", ".dst", ".val", NULL};

static size_t prefix_length(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 1; i < 4; i++) {
        size_t m = strlen(packings[i]);
        if (n > m && strcmp(path + n - m, packings[i]) == 0)
            n -= m;
    }
    if (n > 8 && (memcmp(path + n - 8, ".bel.col", 8) == 0 || memcmp(path + n - 8, ".bel.dst", 8) == 0 ||
                  memcmp(path + n - 8, ".bel.val", 8) == 0))
        return n - 4;
    return n > 4 && memcmp(path + n - 4, ".bel", 4) == 0 ? n : 0;
}

/* The name of part ".col", packed or not, that exists; NULL if none does. */
static char *part_path(const char *path, const char *part)
{
    char *name = NULL;
    for (size_t i = 0; i < 4; i++) {
        if (asprintf(&name, "%.*s%s%s", (int)prefix_length(path), path, part, packings[i]) < 0)
            return NULL;
        if (access(name, F_OK) == 0)
            return name;
        free(name);
    }
    return NULL;
}

static bool probe(const char *path, const unsigned char *head, size_t n)
{
    (void)head, (void)n;
    if (!prefix_length(path))
        return false;
    char *name = part_path(path, ".col");
    const bool there = name != NULL;
    free(name);
    return there;
}

static int header(struct input_stream *source, uint64_t *count, struct err *err)
{
    uint64_t head[2];
    if (graph_read_bytes(source, head, sizeof head, "the header", err))
        return -1;
    *count = head[0];
    return 0;
}

static int parse_col(struct input_stream *col, struct graph *graph, struct err *err)
{
    uint64_t count;
    if (header(col, &count, err))
        return -1;
    if (count == 0)
        return err_set(err, "the header says 0 offsets; expected vertices + 1");
    if (count - 1 > UINT32_MAX)
        return err_set(err, "the header says %llu offsets; ids are read up to 2^32 - 1", (unsigned long long)count);
    if (graph_read_offsets(col, count, &graph->offsets, "offsets", err) || graph_read_end(col, err))
        return -1;
    graph->vertices = count - 1;
    graph->elements = graph->offsets[count - 1];
    return 0;
}

static int parse_dst(struct input_stream *dst, struct graph *graph, struct err *err)
{
    uint64_t count;
    if (header(dst, &count, err))
        return -1;
    if (count != graph->elements)
        return err_set(err, "the header says %llu elements; the last offset of .col says %llu",
                       (unsigned long long)count, (unsigned long long)graph->elements);
    return graph_read_targets(dst, count, 8, false, graph, err) || graph_read_end(dst, err) ? -1 : 0;
}

static int parse_val(struct input_stream *val, struct graph *graph, struct err *err)
{
    uint64_t count;
    if (header(val, &count, err))
        return -1;
    if (count != graph->elements)
        return err_set(err, "the header says %llu weights; expected %llu, one for each element",
                       (unsigned long long)count, (unsigned long long)graph->elements);
    graph->weights = mem_zalloc(count, sizeof *graph->weights, err);
    if (!graph->weights)
        return -1;
    return graph_read_bytes(val, graph->weights, count * sizeof *graph->weights, "the weights", err) ||
                   graph_read_end(val, err)
               ? -1
               : 0;
}

int graph_bel_parse(struct input_stream *col, struct input_stream *dst, struct input_stream *val, struct graph *graph,
                    struct err *err)
{
    if (parse_col(col, graph, err))
        return err_at(err, ".col");
    if (parse_dst(dst, graph, err))
        return err_at(err, ".dst");
    if (val && parse_val(val, graph, err))
        return err_at(err, ".val");
    return graph_check(graph, err);
}

static int read_bel(const char *path, const struct graph_options *options, struct graph *graph, struct err *err)
{
    (void)options;
    struct input_stream *sources[PARTS] = {NULL, NULL, NULL};
    int rc = 0;
    for (int i = 0; i < PARTS && !rc; i++) {
        char *name = part_path(path, part_names[i]);
        if (name)
            rc = (sources[i] = input_stream_open(name, err)) ? 0 : -1;
        else if (i < 2)
            rc = err_set(err, "%.*s%s: no such file; a .bel graph is the files .col and .dst", (int)prefix_length(path),
                         path, part_names[i]);
        free(name);
    }
    if (!rc && graph_bel_parse(sources[0], sources[1], sources[2], graph, err))
        rc = err_at(err, "%.*s", (int)prefix_length(path), path);
    for (int i = 0; i < PARTS; i++)
        if (sources[i])
            input_stream_close(sources[i]);
    return rc;
}

/* Header and values; 4-byte ids are widened to 8 on the way. */
static int write_part(const struct output *part, uint64_t count, const void *values, int from, int to, struct err *err)
{
    FILE *file = part->file;
    const char *name = part->path;
    const uint64_t head[2] = {count, 0};
    int rc = graph_write_bytes(file, name, head, sizeof head, err);
    if (!rc && from == to) {
        rc = graph_write_bytes(file, name, values, count * (uint64_t)to, err);
    } else {
        uint64_t wide[4096];
        for (uint64_t at = 0; at < count && !rc; at += 4096) {
            uint64_t n = count - at < 4096 ? count - at : 4096;
            for (uint64_t i = 0; i < n; i++)
                wide[i] = ((const uint32_t *)values)[at + i];
            rc = graph_write_bytes(file, name, wide, n * 8, err);
        }
    }
    return rc;
}

static int write_parts(struct output parts[PARTS], const struct graph *g, struct err *err)
{
    if (write_part(&parts[0], g->vertices + 1, g->offsets, 8, 8, err))
        return -1;
    if (write_part(&parts[1], g->elements, g->targets, 4, 8, err))
        return -1;
    return g->weights ? write_part(&parts[2], g->elements, g->weights, 4, 4, err) : 0;
}

/* The weights of a graph that was there before are not this one's. */
static void forget_weights(const char *path)
{
    for (char *name; (name = part_path(path, part_names[PARTS - 1])); free(name))
        if (unlink(name)) {
            free(name);
            return;
        }
}

static int write_bel(const struct graph_format *format, const char *path, bool replace, const struct graph *graph,
                     struct err *err)
{
    (void)format;
    if (!prefix_length(path))
        return err_set(err, "'%s' does not end in .bel, the prefix of the files .bel.col and .bel.dst", path);
    struct output parts[PARTS];
    int opened = 0, wanted = graph->weights ? PARTS : PARTS - 1, rc = 0;
    while (opened < wanted && !rc) {
        char *name = NULL;
        if (asprintf(&name, "%.*s%s", (int)prefix_length(path), path, part_names[opened]) < 0)
            rc = err_set(err, "out of memory");
        else
            rc = output_open(&parts[opened], name, replace, err);
        opened += !rc;
        free(name);
    }
    if (!rc)
        rc = write_parts(parts, graph, err);
    output_hold();
    rc = output_close_all(parts, (size_t)opened, rc, err);
    if (!rc && !graph->weights)
        forget_weights(path);
    output_release();
    return rc;
}

const struct graph_format graph_bel = {
    .name = "bel",
    .suffix = ".bel",
    .summary = "EMOGI's binary CSR: NAME.bel.col, NAME.bel.dst and, if weighted, NAME.bel.val",
    .probe = probe,
    .read = read_bel,
    .write = write_bel,
    .parts = part_names,
};
