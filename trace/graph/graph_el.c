/* graph_el: edge lists, one edge `source target` (or `source target weight`) a line, ids from 0.
 *
 * DIMACS .gr, which GAP reads too, has comments "c TEXT", one line "p sp VERTICES EDGES" and edges "a source target
 * weight", ids from 1.
 *
 * Lines that start with '#' or '%' are comments; fields are split at blanks, commas or semicolons; CRLF is accepted.
 * SNAP and KONECT files are of this form: --relabel numbers ids with holes by first appearance, --undirected stores
 * both directions of every line. Neighbour lists keep the order of the file; columns after the third are ignored.
 * Source: gapbs b5e3e19 (.el, .wel); SNAP's text files. */
#include <inttypes.h>
#include <string.h>

#include "trace/graph/graph.h"
#include "trace/graph/graph_build.h"
#include "trace/import/input_stream.h"
#include "trace/store/output.h"

/* Whether the first line that is no comment has two or three numbers. */
static bool probe_columns(const unsigned char *head, size_t n, int *columns)
{
    char line[256];
    size_t at = 0;
    const char *p = line;
    uint64_t id;
    double weight;
    if (!graph_head_line(head, n, &at, line, sizeof line) || !graph_take_u64(&p, &id) || !graph_take_u64(&p, &id))
        return false;
    *columns = graph_take_real(&p, &weight) ? 3 : 2;
    return true;
}

/* A third column may be a weight or a time: only a name that ends in .wel makes it a weight. A METIS file has numbers
 * in each line too, but they are lists. */
static bool probe_el(const char *path, const unsigned char *head, size_t n)
{
    int columns;
    if (graph_ends_in(path, ".graph") || graph_ends_in(path, ".metis"))
        return false;
    return probe_columns(head, n, &columns) && !(columns == 3 && graph_ends_in(path, ".wel"));
}

static bool probe_wel(const char *path, const unsigned char *head, size_t n)
{
    int columns;
    return graph_ends_in(path, ".wel") && probe_columns(head, n, &columns) && columns == 3;
}

static bool probe_gr(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    size_t at = 0;
    while (at + 1 < n && head[at] == 'c' && (head[at + 1] == ' ' || head[at + 1] == '\n' || head[at + 1] == '\r')) {
        const unsigned char *end = memchr(head + at, '\n', n - at);
        at = end ? (size_t)(end - head) + 1 : n;
    }
    return n - at > 5 && memcmp(head + at, "p sp ", 5) == 0;
}

struct el {
    uint64_t vertices, edges, found; /* of DIMACS: as its line p says; lines a */
    struct graph_list list;
    bool weighted;
    int columns; /* of the first edge; 0: none yet */
};

/* How many numbers follow an edge, a weight and a time at most (KONECT's four columns); -1: something else does. */
static int more_numbers(const char *rest)
{
    double number;
    int n = 0;
    for (; n < 2 && !graph_line_done(rest); n++)
        if (!graph_take_real(&rest, &number))
            return -1;
    return graph_line_done(rest) ? n : -1;
}

static int parse_line(void *ctx, char *line, struct err *err)
{
    struct el *el = ctx;
    const char *p = line;
    uint64_t from, to;
    int64_t weight = 0;
    if (!graph_take_u64(&p, &from) || !graph_take_u64(&p, &to))
        return err_set(err, "'%.60s' is no edge 'source target%s'", line, el->weighted ? " weight" : "");
    if (el->weighted && (!graph_take_i64(&p, &weight) || weight > INT32_MAX || weight < INT32_MIN))
        return err_set(err, "'%.60s' has no whole 32-bit weight in its third field", line);
    int more = more_numbers(p), columns = 2 + el->weighted + more;
    if (more < 0 || columns > 4)
        return err_set(err, "'%.60s' has more than numbers, or more than four of them", line);
    if (el->columns && columns != el->columns)
        return err_set(
            err,
            "'%.60s' has %d numbers, the lines before it %d; a METIS graph is not read, a Matrix Market file needs its "
            "first line '%%%%MatrixMarket ..'",
            line, columns, el->columns);
    el->columns = columns;
    return graph_list_edge(&el->list, from, to, el->weighted, (int32_t)weight, err);
}

/* A line of DIMACS. */
static int parse_gr(void *ctx, char *line, struct err *err)
{
    struct el *el = ctx;
    const char *p = line + 1;
    uint64_t from, to;
    int64_t weight;
    if (strncmp(line, "p sp ", 5) == 0) {
        p = line + 5;
        return !el->vertices && graph_take_u64(&p, &el->vertices) && graph_take_u64(&p, &el->edges) && el->vertices
                   ? 0
                   : err_set(err, "'%.60s' is no line 'p sp VERTICES EDGES', or not the first", line);
    }
    if (*line != 'a' || !graph_take_u64(&p, &from) || !graph_take_u64(&p, &to) || !graph_take_i64(&p, &weight) ||
        weight > INT32_MAX || weight < INT32_MIN || !graph_line_done(p))
        return err_set(err, "'%.60s' is no edge 'a source target weight'", line);
    if (from == 0 || to == 0 || from > el->vertices || to > el->vertices)
        return err_set(err, "'%.60s': the vertices are 1 to %" PRIu64, line, el->vertices);
    el->found++;
    return graph_list_edge(&el->list, from - 1, to - 1, true, (int32_t)weight, err);
}

static int parse_dimacs(const struct graph_format *format, struct input_stream *source,
                        const struct graph_options *options, struct graph *graph, struct err *err)
{
    (void)format;
    struct el el = {.list = {.options = options}};
    int rc = graph_each_line(source, "c", parse_gr, &el, err);
    if (rc == 0 && el.found != el.edges)
        rc = err_set(err, "%" PRIu64 " edges; the line 'p sp' says %" PRIu64, el.found, el.edges);
    if (rc == 0 && !options->relabel && el.list.vertices < el.vertices)
        el.list.vertices = el.vertices;
    rc = rc ? -1 : graph_list_finish(&el.list, graph, err);
    graph_list_release(&el.list);
    return rc;
}

static int parse_el(const struct graph_format *format, struct input_stream *source, const struct graph_options *options,
                    struct graph *graph, struct err *err)
{
    struct el el = {.list = {.options = options}, .weighted = format == &graph_wel};
    int rc = graph_each_line(source, "#%", parse_line, &el, err) || graph_list_finish(&el.list, graph, err) ? -1 : 0;
    graph_list_release(&el.list);
    return rc;
}

static int write_el(const struct graph_format *format, const char *path, bool replace, const struct graph *g,
                    struct err *err)
{
    const bool weighted = format == &graph_wel;
    if (weighted && !g->weights)
        return err_set(err, "%s: the graph has no weights; write a .el file", path);
    struct output output;
    if (output_open(&output, path, replace, err))
        return -1;
    graph_text_edges(output.file, g, 0, weighted);
    return output_close(&output, 0, err);
}

const struct graph_format graph_el = {
    .name = "el",
    .suffix = ".el",
    .summary = "edge list: 'source target' a line (SNAP, KONECT and GAP's .el)",
    .probe = probe_el,
    .parse = parse_el,
    .write = write_el,
};

const struct graph_format graph_gr = {
    .name = "gr",
    .suffix = ".gr",
    .summary = "DIMACS shortest paths: 'a source target weight' a line, ids from 1",
    .probe = probe_gr,
    .parse = parse_dimacs,
};

const struct graph_format graph_wel = {
    .name = "wel",
    .suffix = ".wel",
    .summary = "edge list with weights: 'source target weight' a line",
    .probe = probe_wel,
    .parse = parse_el,
    .write = write_el,
};
