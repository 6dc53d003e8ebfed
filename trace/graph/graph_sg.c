/* graph_sg: the GAP Benchmark's serialised graphs, .sg and, weighted, .wsg.
 *
 * Packed, little-endian: u8 directed, i64 E (both directions of an undirected edge), i64 N, i64 offsets[N + 1] (from
 * byte 17: unaligned), E elements (.sg: i32 id; .wsg: i32 id, i32 weight); a directed graph repeats offsets and
 * elements for the incoming edges, which are checked and left out. The two formats differ in the file's size alone.
 * Source: gapbs b5e3e19, src/writer.h and src/reader.h. */
#include <string.h>
#include <sys/stat.h>

#include "trace/base/mem.h"
#include "trace/graph/graph.h"
#include "trace/graph/graph_build.h"
#include "trace/graph/graph_reorder.h"
#include "trace/import/input_stream.h"
#include "trace/store/output.h"

enum { SG_HEAD = 17 };

/* The header's numbers if the first bytes can be one: a flag of 0 or 1, counts that are not negative, offset 0 first.
 */
static bool sane_head(const unsigned char *head, size_t n, uint64_t *elements, uint64_t *vertices)
{
    uint64_t first = 0;
    if (n < SG_HEAD + 8 || head[0] > 1)
        return false;
    memcpy(elements, head + 1, 8);
    memcpy(vertices, head + 9, 8);
    memcpy(&first, head + SG_HEAD, 8);
    return first == 0 && *elements <= (UINT64_MAX >> 8) && *vertices <= (1ULL << 31);
}

/* By size where the file is not packed, else by name. */
static bool probe_width(const char *path, const unsigned char *head, size_t n, uint64_t width, const char *suffix)
{
    uint64_t elements, vertices;
    if (!sane_head(head, n, &elements, &vertices))
        return false;
    struct stat st;
    uint64_t sides = 1ULL + head[0], size = SG_HEAD + sides * ((vertices + 1) * 8 + elements * width);
    if (stat(path, &st) == 0 && (uint64_t)st.st_size == size)
        return true;
    return graph_ends_in(path, suffix);
}

static bool probe_sg(const char *path, const unsigned char *head, size_t n)
{
    return probe_width(path, head, n, 4, ".sg");
}

static bool probe_wsg(const char *path, const unsigned char *head, size_t n)
{
    return probe_width(path, head, n, 8, ".wsg");
}

/* One direction: offsets and elements. */
static int parse_side(struct input_stream *source, bool weighted, struct graph *g, struct err *err)
{
    if (graph_read_offsets(source, g->vertices + 1, &g->offsets, "offsets", err))
        return -1;
    if (graph_read_targets(source, g->elements, 4, weighted, g, err))
        return -1;
    return graph_check(g, err);
}

static int parse_sg(const struct graph_format *format, struct input_stream *source, const struct graph_options *options,
                    struct graph *g, struct err *err)
{
    (void)options;
    const bool weighted = format == &graph_wsg;
    unsigned char head[SG_HEAD];
    if (graph_read_bytes(source, head, sizeof head, "the header", err))
        return -1;
    if (head[0] > 1)
        return err_set(err, "byte 0 is %u; expected 0 (undirected) or 1 (directed)", head[0]);
    memcpy(&g->elements, head + 1, 8);
    memcpy(&g->vertices, head + 9, 8);
    if (g->vertices > (1ULL << 31) || g->elements > (UINT64_MAX >> 8))
        return err_set(err, "the header says %llu vertices and %llu elements; ids are 32-bit",
                       (unsigned long long)g->vertices, (unsigned long long)g->elements);
    g->symmetric = head[0] == 0;
    if (parse_side(source, weighted, g, err))
        return -1;
    if (head[0]) {
        struct graph incoming = {.vertices = g->vertices, .elements = g->elements};
        int rc = parse_side(source, weighted, &incoming, err);
        graph_release(&incoming);
        if (rc)
            return err_at(err, "incoming edges");
    }
    return graph_read_end(source, err);
}

static int write_side(FILE *file, const char *path, const struct graph *g, bool weighted, struct err *err)
{
    if (graph_write_bytes(file, path, g->offsets, (g->vertices + 1) * 8, err))
        return -1;
    if (!weighted)
        return graph_write_bytes(file, path, g->targets, g->elements * 4, err);
    uint32_t pairs[2 * 4096];
    for (uint64_t at = 0; at < g->elements; at += 4096) {
        uint64_t n = g->elements - at < 4096 ? g->elements - at : 4096;
        for (uint64_t i = 0; i < n; i++) {
            pairs[2 * i] = g->targets[at + i];
            pairs[2 * i + 1] = (uint32_t)g->weights[at + i];
        }
        if (graph_write_bytes(file, path, pairs, n * 8, err))
            return -1;
    }
    return 0;
}

static int write_sg(const struct graph_format *format, const char *path, bool replace, const struct graph *g,
                    struct err *err)
{
    const bool weighted = format == &graph_wsg;
    if (g->vertices > INT32_MAX)
        return err_set(err, "%s: GAP files have 32-bit ids; the graph has %llu vertices", path,
                       (unsigned long long)g->vertices);
    if (weighted && !g->weights)
        return err_set(err, "%s: the graph has no weights; write a .sg file", path);
    struct graph reversed = {0};
    if (!g->symmetric && graph_transpose(g, &reversed, err)) {
        graph_release(&reversed);
        return -1;
    }
    struct output output = {0};
    int rc = output_open(&output, path, replace, err);
    unsigned char head[SG_HEAD] = {!g->symmetric};
    memcpy(head + 1, &g->elements, 8);
    memcpy(head + 9, &g->vertices, 8);
    if (!rc)
        rc = output_close(&output,
                          graph_write_bytes(output.file, path, head, sizeof head, err) ||
                                  write_side(output.file, path, g, weighted, err) ||
                                  (!g->symmetric && write_side(output.file, path, &reversed, weighted, err))
                              ? -1
                              : 0,
                          err);
    graph_release(&reversed);
    return rc;
}

const struct graph_format graph_sg = {
    .name = "sg",
    .suffix = ".sg",
    .summary = "GAP Benchmark serialised graph",
    .probe = probe_sg,
    .parse = parse_sg,
    .write = write_sg,
};

const struct graph_format graph_wsg = {
    .name = "wsg",
    .suffix = ".wsg",
    .summary = "GAP Benchmark serialised graph with weights",
    .probe = probe_wsg,
    .parse = parse_sg,
    .write = write_sg,
};
